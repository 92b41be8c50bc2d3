import Boom from '@hapi/boom';
import {
  ApprovalNotFound,
  ApprovalNotPending,
  type Approvals,
  DigestMismatch,
  type DirectCall,
} from '../approvals/module.js';
import type { Recorder } from '../kernel/contract/audit.js';
import { type Caller, CustomReply } from '../kernel/contract/endpoint.js';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { orNotFound, resource } from '../kernel/route.js';
import type { GrantRule, PermissionsOf } from '../permissions/module.js';
import { type Toolbox, ToolFailed, ToolRefused } from '../tools/module.js';
import {
  isManagedBy,
  isVisible,
  type Skill as Known,
  listCatalog,
  listedTool,
  type Viewer,
  viewSkill,
} from './catalog.js';
import { type NewMcpServer, type SkillReply, skills } from './contract.js';
import { isQuarantined } from './pinneddefinitions.js';
import { NameTaken } from './serverregistry.js';
import { DefinitionsChanged } from './servers.js';
import type { Skills } from './skills.js';
import { InvalidServer } from './spec.js';

export interface SkillsResourceDeps {
  approvals: Pick<Approvals, 'admit'>;
  folderOf(userId: string, name: string): Promise<string>;
  skills: Skills;
  toolbox: Toolbox;
  permissionsOf: PermissionsOf;
  grants: GrantRule;
  /** Whether the user is an admin of the installation. */
  isAdmin(userId: string): Promise<boolean>;
}

export const skillsResource = (deps: SkillsResourceDeps) =>
  resource('skills', skills, {
    list: async ({ query }, by) => {
      const { source, status } = query;
      const { all, viewer } = await loadSkills(deps, by);
      const fitting = all.filter(
        (one) => one.source === (source ?? one.source) && one.status === (status ?? one.status),
      );
      const { rows, nextCursor } = pageFrom(fitting, query);
      return { skills: rows.map((skill) => viewSkill(skill, viewer)), nextCursor };
    },
    tools: async ({ query }, by) => {
      const { all, viewer } = await loadSkills(deps, by);
      const tools = all
        .filter(({ id }) => id === (query.skillId ?? id))
        .flatMap((skill) => skill.tools.map((tool) => listedTool(tool, skill, viewer)))
        .map((tool) => ({ id: `${tool.skillId}.${tool.name}`, tool }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const { rows, nextCursor } = pageFrom(tools, query);
      return { tools: rows.map(({ tool }) => tool), nextCursor };
    },
    get: ({ id }, by) => show(deps, id, by),
    execute: async ({ skillId, toolName, body }, by) => {
      const { skill } = await find(deps, skillId, by);
      const tool = orNotFound(
        skill.tools.find(({ name }) => name === toolName),
        'No tool with that name',
      );
      return execute(deps, { tool, arguments: {}, ...body }, by);
    },
    accept: async ({ id, body }, by) => {
      const server = await findServerName(deps, id, by);
      deps.grants.refuse(by, pendingTools(deps, server));
      const { digest } = body;
      const also = [by.record({ target: server, data: { digest } })];
      await deps.skills.servers
        .accept(server, digest, { userId: personOf(by), also })
        .catch(refused);
      return show(deps, id, by);
    },
    refresh: async ({ id }, by) => {
      await deps.skills.servers.look(await findServerName(deps, id, by), by.userId);
      return show(deps, id, by);
    },
    'mcp-add': ({ body }, by) => addServer(deps, body, by),
    'mcp-remove': async ({ name }, by) => {
      const { server } = (await find(deps, name, by)).skill;
      if (!server || !isManagedBy(server, by)) throw Boom.notFound('No MCP server with that name');
      if (server.origin === 'file') {
        throw Boom.conflict(
          `${name} is defined in the file mcp.json in the home of the daemon. Remove it from the file; no restart is needed`,
          {
            code: 'in_file',
          },
        );
      }
      const isRemoved = await deps.skills.servers.remove(server, [by.record({ target: name })]);
      if (!isRemoved) throw Boom.notFound('No MCP server with that name');
    },
  });

const personOf = ({ userId, member }: Caller): string => member?.userId ?? userId;

const loadSkills = async (
  { skills: known, toolbox, permissionsOf }: SkillsResourceDeps,
  by: Caller,
): Promise<{ all: Known[]; viewer: Viewer }> => {
  const [permissions] = await Promise.all([permissionsOf(by.userId), known.refresh()]);
  const viewer = { permissions, by };
  return { all: listCatalog(toolbox, known).filter((skill) => isVisible(skill, viewer)), viewer };
};

const find = async (deps: SkillsResourceDeps, id: string, by: Caller) => {
  const { all, viewer } = await loadSkills(deps, by);
  const skill = orNotFound(
    all.find((one) => one.id === id),
    'No skill with that id',
  );
  return { skill, viewer };
};

const show = async (deps: SkillsResourceDeps, id: string, by: Caller): Promise<SkillReply> => {
  const { skill, viewer } = await find(deps, id, by);
  return viewSkill(skill, viewer);
};

/** Changed tools, or the whole server if it was never listed. */
const pendingTools = ({ skills: { servers } }: SkillsResourceDeps, name: string): string[] => {
  const pins = servers.all().find((server) => server.name === name)?.pins ?? [];
  const waiting = pins.filter(isQuarantined).map(({ tool }) => `${name}.${tool}`);
  return waiting.length > 0 ? waiting : [`${name}.*`];
};

const findServerName = async (
  deps: SkillsResourceDeps,
  id: string,
  by: Caller,
): Promise<string> => {
  const { server } = (await find(deps, id, by)).skill;
  if (server?.spec && isManagedBy(server, by)) return server.name;
  throw Boom.conflict('The skill is not an MCP server with a valid configuration', {
    code: 'no_server',
  });
};

const addServer = async (
  deps: SkillsResourceDeps,
  { name, ...written }: NewMcpServer,
  by: Caller & Recorder,
): Promise<SkillReply> => {
  const data = written.url === undefined ? { command: written.command } : { url: written.url };
  const also = [by.record({ target: name, data })];
  const { servers } = deps.skills;
  const orgId = by.member ? by.userId : null;
  if (by.member) await refuseOrgServer(deps, { name, ...written }, by);
  // The tools are unknown until the server is connected, and all are accepted then.
  deps.grants.refuse(by, [`${name}.*`]);
  await servers.add({ name, written, ownerId: personOf(by), orgId }, also).catch(refused);
  await servers.look(name, by.userId);
  return show(deps, name, by);
};

/** Maximum number of servers of an organization, so that it leaves open sessions for others. */
const MAX_ORG_SERVERS = 10;

const refuseOrgServer = async (
  { skills: { servers, folders }, isAdmin }: SkillsResourceDeps,
  { name, command }: NewMcpServer,
  by: Caller,
): Promise<void> => {
  if (command !== undefined && !(await isAdmin(personOf(by)))) {
    throw Boom.forbidden(
      'Only an admin of the installation may add a server that runs a program. Pass url instead of command',
    );
  }
  if (folders().some(({ folder }) => folder === name)) {
    const message = `A skill folder named ${name} already exists. Choose another name`;
    throw Boom.conflict(message, { code: 'name_taken' });
  }
  if (servers.all().filter(({ orgId }) => orgId === by.userId).length < MAX_ORG_SERVERS) return;
  throw Boom.conflict(
    `The organization has the maximum of ${MAX_ORG_SERVERS} MCP servers. Delete a server first.`,
    { code: 'too_many' },
  );
};

const refused = (error: unknown): never => {
  if (error instanceof ApprovalNotFound) throw Boom.notFound(error.message);
  if (error instanceof ApprovalNotPending)
    throw Boom.conflict(error.message, { code: 'approval_not_open' });
  if (error instanceof DigestMismatch || error instanceof DefinitionsChanged) {
    throw Boom.conflict(error.message, { code: 'other_digest' });
  }
  if (error instanceof NameTaken) throw Boom.conflict(error.message, { code: 'name_taken' });
  if (!(error instanceof InvalidServer)) throw error;
  const details = [{ path: error.path, message: error.reason }];
  throw Boom.badRequest(`Invalid request: ${error.message}`, { details });
};

/** Sorted by ID, because most skills have no creation time. */
const pageFrom = <T extends { id: string }>(
  all: T[],
  { limit = DEFAULT_LIMIT, cursor = '' }: { limit?: number; cursor?: string },
) =>
  cutPage(
    all.filter(({ id }) => id > cursor),
    limit,
  );

/** Folder for direct calls, which have no agent. */
const FOLDER = 'direct';

const execute = async (
  { approvals, folderOf }: SkillsResourceDeps,
  call: Omit<DirectCall, 'userId'>,
  by: Caller,
) => {
  const { tool, arguments: args } = call;
  const admission = await approvals
    .admit({ userId: by.userId, ...call })
    .catch((error: unknown) => refused(toToolFailureBoom(error)));
  if (admission.verdict === 'deny') throw Boom.forbidden(sentence(admission.because), DENIED);
  if (admission.verdict === 'ask') return new CustomReply(202, { approval: admission.approval });
  const context = {
    userId: by.userId,
    agentId: null,
    executionId: null,
    openFolder: () => folderOf(by.userId, FOLDER),
    signal: by.signal,
    effectId: by.requestId,
    ...(call.approvalId !== undefined && { isApproved: true as const }),
  };
  const result = await tool.run(args, context).catch((error: unknown) => {
    if (by.signal.aborted) throw Boom.badRequest('The tool call was aborted');
    throw toToolFailureBoom(error);
  });
  return { result: result ?? null };
};

const DENIED = { code: 'tool_denied' };

/** 424, because a 5xx would make clients retry the call whatever it had done. */
const toToolFailureBoom = (error: unknown): unknown => {
  if (error instanceof ToolFailed) {
    return Boom.failedDependency(error.message, { code: 'tool_failed' });
  }
  if (!(error instanceof ToolRefused)) return error;
  if (!error.details) return Boom.conflict(error.message, { code: 'tool_unavailable' });
  const details = error.details.map(({ path, message }) => ({
    path: ['arguments', path].filter(Boolean).join('.'),
    message,
  }));
  return Boom.badRequest(`Invalid request: ${error.message}`, { details });
};

const sentence = (because: string): string => because.charAt(0).toUpperCase() + because.slice(1);
