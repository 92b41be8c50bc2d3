import { type EffectivePermissions, levelOf } from '../permissions/rules.js';
import type { Tool } from '../tools/tool.js';
import type { Skill as Known } from './catalog.js';
import type { ListedTool, SkillReply } from './contract.js';
import { digestOfPins, isQuarantined } from './pinneddefinitions.js';
import type { ServerState } from './servers.js';

/** The caller's permissions and role, which decide what is shown. */
export interface Viewer {
  permissions: EffectivePermissions;
  isAdmin: boolean;
}

/**
 * True if the caller may see the skill. An MCP server that is not for everyone is hidden from users
 * without the right.
 */
export const isVisible = ({ server }: Known, { permissions }: Viewer): boolean =>
  server === null || server.spec?.everyone === true || permissions.may('mcp');

export const viewSkill = (skill: Known, { permissions, isAdmin }: Viewer): SkillReply => {
  const { id, name, description, source, status, reason, tools, server } = skill;
  return {
    ...{ id, name, description, source, status, reason },
    tools: tools.map((tool) => viewTool(tool, permissions)),
    server: isAdmin && server ? viewServer(server) : null,
    pending: isAdmin && server ? viewPending(server) : null,
  };
};

export const listedTool = (tool: Tool, skill: Known, { permissions }: Viewer): ListedTool => ({
  skillId: tool.skillId,
  name: tool.name,
  description: tool.description,
  inputSchema: tool.inputSchema,
  source: skill.source,
  permission: levelOf(tool, permissions),
});

const viewTool = (tool: Tool, permissions: EffectivePermissions): SkillReply['tools'][number] => ({
  name: tool.name,
  description: tool.description,
  inputSchema: tool.inputSchema,
  permission: levelOf(tool, permissions),
  sideEffects: tool.sideEffects,
  outside: tool.outside,
  reason: tool.unavailable,
});

const viewServer = ({ origin, spec, secrets }: ServerState): SkillReply['server'] => {
  if (!spec) return null;
  const { at, everyone, timeoutMs } = spec;
  const isProgram = at.kind === 'stdio';
  return {
    ...{ origin, transport: at.kind, everyone, timeoutMs },
    command: isProgram ? at.command : null,
    args: isProgram ? at.args : [],
    readable: isProgram ? at.readable : [],
    network: !isProgram || at.network,
    url: isProgram ? null : at.url,
    envSet: Object.keys(secrets.env),
    headersSet: Object.keys(secrets.headers),
  };
};

const viewPending = ({ name, pins }: ServerState): SkillReply['pending'] => {
  const waiting = pins.filter(isQuarantined);
  if (waiting.length === 0) return null;
  const tools = waiting.flatMap(({ tool, pinned, offered }) =>
    offered ? [{ name: tool, before: pinned && shown(pinned), after: shown(offered) }] : [],
  );
  return { digest: digestOfPins(name, pins), tools };
};

const shown = ({
  description,
  inputSchema,
}: NonNullable<ServerState['pins'][number]['pinned']>) => ({
  description,
  inputSchema,
});
