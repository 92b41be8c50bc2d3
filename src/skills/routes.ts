import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import type { PermissionsOf } from '../permissions/effective.js';
import type { GrantRule } from '../permissions/grants.js';
import type { Toolbox } from '../tools/toolbox.js';
import { catalogOf, type Skill as Known } from './catalog.js';
import { type NewMcpServer, type SkillReply, skills } from './contract.js';
import { type ExecuteDeps, execute } from './execute.js';
import { isQuarantined } from './pinneddefinitions.js';
import { NameTaken } from './register.js';
import { OtherDefinitions } from './servers.js';
import type { Skills } from './skills.js';
import { BadServer } from './spec.js';
import { isVisible, listedTool, type Viewer, viewSkill } from './view.js';

export interface SkillsDeps extends ExecuteDeps {
  skills: Skills;
  toolbox: Toolbox;
  permissionsOf: PermissionsOf;
  grants: GrantRule;
}

export const skillsResource = (deps: SkillsDeps) =>
  resource('skills', skills, {
    list: async ({ query }, by) => {
      const { source, status } = query;
      const { all, viewer } = await lookAt(deps, by);
      const fitting = all.filter(
        (one) => one.source === (source ?? one.source) && one.status === (status ?? one.status),
      );
      const { rows, nextCursor } = pageFrom(fitting, query);
      return { skills: rows.map((skill) => viewSkill(skill, viewer)), nextCursor };
    },
    tools: async ({ query }, by) => {
      const { all, viewer } = await lookAt(deps, by);
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
      const skill = await find(deps, skillId, by);
      const tool = skill.tools.find(({ name }) => name === toolName);
      if (!tool) throw Boom.notFound('No tool with that name');
      return execute(deps, { tool, arguments: {}, ...body }, by);
    },
    accept: async ({ id, body }, by) => {
      const server = await serverOf(deps, id, by);
      deps.grants.refuse(by, waitingAt(deps, server));
      const { digest } = body;
      const also = [by.record({ target: server, data: { digest } })];
      await deps.skills.servers
        .accept(server, digest, { userId: by.userId, also })
        .catch(notAccepted);
      return show(deps, id, by);
    },
    refresh: async ({ id }, by) => {
      await deps.skills.servers.look(await serverOf(deps, id, by), by.userId);
      return show(deps, id, by);
    },
    'mcp-add': ({ body }, by) => addServer(deps, body, by),
    'mcp-remove': async ({ name }, by) => {
      const { server } = await find(deps, name, by);
      if (!server) throw Boom.notFound('No skill with that id');
      if (server.origin === 'file') {
        throw Boom.conflict(`${name} stands in mcp.json: take it out there`, { code: 'in_file' });
      }
      const isRemoved = await deps.skills.servers.remove(server, [by.record({ target: name })]);
      if (!isRemoved) throw Boom.notFound('No skill with that id');
    },
  });

/** Returns all skills that the caller may see, as they are now. */
const lookAt = async (
  { skills: known, toolbox, permissionsOf }: SkillsDeps,
  { userId, role }: Caller,
): Promise<{ all: Known[]; viewer: Viewer }> => {
  const [permissions] = await Promise.all([permissionsOf(userId), known.refresh()]);
  const viewer = { permissions, isAdmin: role === 'admin' };
  return { all: catalogOf(toolbox, known).filter((skill) => isVisible(skill, viewer)), viewer };
};

const find = async (deps: SkillsDeps, id: string, by: Caller): Promise<Known> => {
  const { all } = await lookAt(deps, by);
  const skill = all.find((one) => one.id === id);
  if (!skill) throw Boom.notFound('No skill with that id');
  return skill;
};

const show = async (deps: SkillsDeps, id: string, by: Caller): Promise<SkillReply> => {
  const { all, viewer } = await lookAt(deps, by);
  const skill = all.find((one) => one.id === id);
  if (!skill) throw Boom.notFound('No skill with that id');
  return viewSkill(skill, viewer);
};

/**
 * Returns the tools of an MCP server that are trusted once they are accepted: those that wait, or
 * the whole server if none was seen yet.
 */
const waitingAt = ({ skills: { servers } }: SkillsDeps, name: string): string[] => {
  const pins = servers.all().find((server) => server.name === name)?.pins ?? [];
  const waiting = pins.filter(isQuarantined).map(({ tool }) => `${name}.${tool}`);
  return waiting.length > 0 ? waiting : [`${name}.*`];
};

/** Returns the name of the MCP server behind a skill; throws 409 if there is none. */
const serverOf = async (deps: SkillsDeps, id: string, by: Caller): Promise<string> => {
  const { server } = await find(deps, id, by);
  if (server?.spec) return server.name;
  throw Boom.conflict('That skill is no MCP server that can be reached', { code: 'no_server' });
};

const addServer = async (
  deps: SkillsDeps,
  { name, ...written }: NewMcpServer,
  by: Caller & Recorder,
): Promise<SkillReply> => {
  const data = written.url === undefined ? { command: written.command } : { url: written.url };
  const also = [by.record({ target: name, data })];
  const { servers } = deps.skills;
  // The server's tools are unknown until it is asked, and all of them are trusted then.
  deps.grants.refuse(by, [`${name}.*`]);
  await servers.add({ name, written, ownerId: by.userId }, also).catch(notAdded);
  await servers.look(name, by.userId);
  return show(deps, name, by);
};

const notAdded = (error: unknown): never => {
  if (error instanceof NameTaken) throw Boom.conflict(error.message, { code: 'name_taken' });
  if (!(error instanceof BadServer)) throw error;
  const details = [{ path: error.path, message: error.reason }];
  throw Boom.badRequest(`Not accepted: ${error.message}`, { details });
};

const notAccepted = (error: unknown): never => {
  if (!(error instanceof OtherDefinitions)) throw error;
  throw Boom.conflict(error.message, { code: 'other_digest' });
};

/**
 * Returns a page of the list. Ours: sorted by id and not newest first, since most skills have no
 * time of creation.
 */
const pageFrom = <T extends { id: string }>(
  all: T[],
  { limit = DEFAULT_LIMIT, cursor = '' }: { limit?: number; cursor?: string },
) =>
  cutPage(
    all.filter(({ id }) => id > cursor),
    limit,
  );
