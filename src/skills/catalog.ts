import type { Caller } from '../kernel/contract/endpoint.js';
import { withoutHost } from '../kernel/redact.js';
import { type EffectivePermissions, getToolLevel } from '../permissions/module.js';
import type { Tool, Toolbox } from '../tools/module.js';
import type { ListedTool, SkillReply } from './contract.js';
import { isQuarantined, pinsDigest } from './pinneddefinitions.js';
import type { ServerState } from './servers.js';
import type { Skills } from './skills.js';

export interface Skill extends Omit<SkillReply, 'orgId' | 'tools' | 'server' | 'pending'> {
  tools: Tool[];
  server: ServerState | null;
}

/** Sorted by ID. */
export const listCatalog = (toolbox: Toolbox, skills: Skills): Skill[] => {
  const servers = new Map(skills.servers.all().map((server) => [server.name, server]));
  const groups = toolbox.groups();
  const builtIn = groups.filter(({ skillId }) => !servers.has(skillId));
  const toolsOf = (name: string): Tool[] =>
    groups.find(({ skillId }) => skillId === name)?.tools ?? [];
  return [
    ...builtIn.map(({ skillId, description, tools }) => builtInSkill(skillId, description, tools)),
    ...[...servers.values()].map((server) => serverSkill(server, toolsOf(server.name))),
    ...skills.folders().map(folderSkill),
  ]
    .map((skill) => ({ ...skill, reason: skill.reason?.slice(0, MAX_REASON_LENGTH) ?? null }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
};

/** An error message of a server may have any length. */
const MAX_REASON_LENGTH = 1_000;

const builtInSkill = (id: string, description: string, tools: Tool[]): Skill => {
  const off = tools.every(({ unavailable }) => unavailable !== null);
  return {
    id,
    name: id,
    description,
    source: 'builtin',
    tools,
    server: null,
    status: off ? 'unavailable' : 'ready',
    reason: off ? (tools[0]?.unavailable ?? null) : null,
  };
};

const serverSkill = (server: ServerState, tools: Tool[]): Skill => ({
  id: server.name,
  name: server.name,
  source: 'mcp',
  tools,
  server,
  description: `MCP server ${server.name}`,
  ...toSkillStatus(server),
});

const toSkillStatus = (server: ServerState): Pick<Skill, 'status' | 'reason'> => {
  const { fault, whyOff, trouble, pins } = server;
  if (fault !== null) return { status: 'invalid', reason: fault };
  if (whyOff !== null) return { status: 'unavailable', reason: whyOff };
  if (pins.some(isQuarantined)) return { status: 'quarantined', reason: QUARANTINED };
  if (trouble) return { status: 'failed', reason: trouble.why };
  if (!server.isKnown)
    return { status: 'unconnected', reason: 'The server has not been connected yet' };
  return { status: 'ready', reason: null };
};

const QUARANTINED = 'The server changed its tools. An admin must accept the changes.';

const folderSkill = ({ folder, file, fault }: ReturnType<Skills['folders']>[number]): Skill => ({
  id: file ? folder : `${folder}@folder`,
  name: file?.name ?? folder,
  description: file?.description ?? '',
  source: 'folder',
  status: file ? 'ready' : 'invalid',
  reason: fault,
  tools: [],
  server: null,
});

/** Decides what is shown. */
export interface Viewer {
  permissions: EffectivePermissions;
  by: Pick<Caller, 'userId' | 'role' | 'member'>;
}

/** Users without the permission cannot see a server of the installation that is not for everyone. */
export const isVisible = ({ server }: Skill, { permissions, by }: Viewer): boolean => {
  if (server === null) return true;
  if (server.orgId !== null) return server.orgId === by.userId;
  return server.spec?.everyone === true || permissions.may('mcp');
};

export const viewSkill = (skill: Skill, { permissions, by }: Viewer): SkillReply => {
  const { tools, server, reason, ...rest } = skill;
  const isManager = server !== null && isManagedBy(server, by);
  return {
    ...rest,
    orgId: server?.orgId ?? null,
    reason: isManager ? reason : withoutAddress(reason, server),
    tools: tools.map((tool) => viewTool(tool, permissions)),
    server: isManager ? viewServer(server) : null,
    pending: isManager ? viewPending(server) : null,
  };
};

/** Whether the caller may change the server, and thus see its address. */
export const isManagedBy = (
  { orgId }: ServerState,
  { userId, role, member }: Viewer['by'],
): boolean =>
  orgId === null
    ? role === 'admin'
    : orgId === userId && member !== undefined && member.role !== 'member';

const withoutAddress = (reason: string | null, server: ServerState | null): string | null => {
  if (reason === null || server?.spec?.at.kind !== 'http') return reason;
  return withoutHost(reason, server.spec.at.url);
};

export const listedTool = (tool: Tool, skill: Skill, { permissions }: Viewer): ListedTool => ({
  skillId: tool.skillId,
  name: tool.name,
  description: tool.description,
  inputSchema: tool.inputSchema,
  source: skill.source,
  permission: getToolLevel(tool, permissions),
});

const viewTool = (tool: Tool, permissions: EffectivePermissions): SkillReply['tools'][number] => ({
  name: tool.name,
  description: tool.description,
  inputSchema: tool.inputSchema,
  permission: getToolLevel(tool, permissions),
  sideEffects: tool.sideEffects,
  outside: tool.outside,
  reason: tool.unavailable,
});

const viewServer = ({ origin, spec, secrets }: ServerState): SkillReply['server'] => {
  if (!spec) return null;
  const { at, everyone, timeoutMs } = spec;
  const { kind: transport, ...place } = at;
  return {
    origin,
    transport,
    everyone,
    timeoutMs,
    ...NOWHERE,
    ...place,
    envSet: Object.keys(secrets.env),
    headersSet: Object.keys(secrets.headers),
  };
};

/** Fields of the other transport. */
const NOWHERE = { command: null, args: [], readable: [], network: true, url: null };

const viewPending = ({ name, pins }: ServerState): SkillReply['pending'] => {
  const waiting = pins.filter(isQuarantined);
  if (waiting.length === 0) return null;
  const tools = waiting.flatMap(({ tool, pinned, offered }) =>
    offered ? [{ name: tool, before: pinned && shown(pinned), after: shown(offered) }] : [],
  );
  return { digest: pinsDigest(name, pins), tools };
};

const shown = ({
  description,
  inputSchema,
}: NonNullable<ServerState['pins'][number]['pinned']>) => ({
  description,
  inputSchema,
});
