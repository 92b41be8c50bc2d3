import type { Tool } from '../tools/tool.js';
import type { Toolbox } from '../tools/toolbox.js';
import { isQuarantined } from './pinneddefinitions.js';
import type { ServerState } from './servers.js';
import type { Skills } from './skills.js';

export type SkillStatus =
  | 'ready'
  | 'unavailable'
  | 'invalid'
  | 'unconnected'
  | 'failed'
  | 'quarantined';

/** A group of tools, a skill folder or an MCP server, as the API shows them. */
export interface Skill {
  id: string;
  name: string;
  description: string;
  source: 'builtin' | 'folder' | 'mcp';
  status: SkillStatus;
  /** The reason why the skill is not ready; null if it is. */
  reason: string | null;
  tools: Tool[];
  server: ServerState | null;
}

/** Returns all skills, sorted by id, including those that cannot be used. */
export const catalogOf = (toolbox: Toolbox, skills: Skills): Skill[] => {
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
    .map((skill) => ({ ...skill, reason: skill.reason?.slice(0, LONGEST_REASON) ?? null }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
};

/** The maximum length of a reason, because an error message of a server may have any length. */
const LONGEST_REASON = 1_000;

const builtInSkill = (id: string, description: string, tools: Tool[]): Skill => {
  const off = tools.every(({ unavailable }) => unavailable !== null);
  return {
    ...{ id, name: id, description, source: 'builtin', tools, server: null },
    status: off ? 'unavailable' : 'ready',
    reason: off ? (tools[0]?.unavailable ?? null) : null,
  };
};

const serverSkill = (server: ServerState, tools: Tool[]): Skill => ({
  ...{ id: server.name, name: server.name, source: 'mcp', tools, server },
  description: `The MCP server ${server.name}`,
  ...stateOf(server),
});

const stateOf = (server: ServerState): Pick<Skill, 'status' | 'reason'> => {
  const { fault, whyOff, trouble, pins } = server;
  if (fault !== null) return { status: 'invalid', reason: fault };
  if (whyOff !== null) return { status: 'unavailable', reason: whyOff };
  if (pins.some(isQuarantined)) return { status: 'quarantined', reason: QUARANTINED };
  if (trouble) return { status: 'failed', reason: trouble.why };
  if (!server.isKnown) return { status: 'unconnected', reason: 'It was never reached' };
  return { status: 'ready', reason: null };
};

const QUARANTINED = 'It changed what its tools are: an admin looks at them and accepts them';

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
