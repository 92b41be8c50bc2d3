import {
  type Approval,
  contracts,
  type ListedTool,
  type Permission,
  type SkillReply,
} from '../../src/client/index.js';
import { approvalColumns, digestPrefix } from '../approvals/approval.js';
import { buildColumns, formattedColumn, valueAt } from '../columns.js';
import type { CommandGroup, Context } from '../command.js';
import { crud } from '../crud.js';
import { usageFault } from '../exit.js';
import { listCommand, requestCommand } from '../request.js';
import { oneLine, safe } from '../text.js';

const endpoints = await contracts.skills();
const permissions = await contracts.permissions();

export const skillColumns = buildColumns<SkillReply>(
  ['id', 'state=status:state', 'source'],
  { name: 'tools', value: ({ tools }) => tools.length, isNumber: true },
  { name: 'about', value: ({ reason, description }) => reason ?? description },
);

const skillCrud = crud({
  noun: 'skill',
  rows: 'skills',
  endpoints,
  columns: skillColumns,
  named: (skill) => skill,
  isExact: true,
});

const tools = listCommand({
  endpoint: endpoints.tools,
  name: 'tools',
  examples: ['', '--skill-id files', '--all --json'],
  rows: 'tools',
  columns: buildColumns<ListedTool>(
    { name: 'tool', value: ({ skillId, name }) => `${skillId}.${name}` },
    ['permission', 'source'],
    formattedColumn('about', ({ description }) => description, oneLine),
  ),
  next: ([first]) =>
    first && `Run one: adjutant skills run ${safe(first.skillId)}.${safe(first.name)}`,
});

/** Splits a tool name into the skill and the name of the tool. */
const parseToolName = (typed: string, form: string): [skillId: string, name: string] => {
  const [, skillId, name] = /^([^.]+)\.(.+)$/.exec(typed) ?? [];
  if (skillId && name) return [skillId, name];
  throw usageFault(`"${oneLine(typed)}" is not a tool name. Expected a name like ${form}`);
};

const skillRun = requestCommand({
  name: 'run',
  aliases: ['execute'],
  args: '<tool>',
  endpoint: endpoints.execute,
  examples: [
    'time.now',
    `time.now --arguments '{"timezone":"Asia/Tokyo"}'`,
    'files.write --arguments @call.json',
  ],
  except: [],
  notes: [
    'A tool name is the skill, a dot, and the name of the tool. List all tools: adjutant ' +
      'skills tools',
  ],
  seeAlso: 'adjutant approvals approve',
  at: (_, { tool }) => {
    const [skillId, toolName] = parseToolName(tool, 'time.now');
    return { skillId, toolName };
  },
  show: ({ out }, reply: ToolRunReply, { args: { tool } }) => {
    if (reply.approval) printApproval({ out }, tool, reply.approval);
    else if (out.format === 'json') out.json(reply);
    else out.line(safe(formatToolResult(reply.result)));
  },
});

/** The result, or the pending approval of a 202 reply. */
interface ToolRunReply {
  result?: unknown;
  approval?: Approval;
}

const printApproval = ({ out }: Pick<Context, 'out'>, tool: string, approval: Approval): void => {
  if (out.format !== 'table') out.item(approval, approvalColumns);
  const next = `adjutant approvals approve ${digestPrefix(approval)}`;
  out.note(`${safe(tool)} is waiting for your approval: ${next}`);
  out.note(`Then run the same command again with --approval-id ${approval.id}`);
};

const formatToolResult = (result: unknown): string => {
  if (typeof result === 'string') return result;
  const text = valueAt(result, 'text');
  return typeof text === 'string' ? text : JSON.stringify(result, null, 2);
};

const columns = buildColumns<Permission>(
  { name: 'tool', value: ({ skillId, action }) => `${skillId}.${action}` },
  ['level:state', 'expires=expiresAt:ago', 'reason', 'updated=updatedAt:ago'],
);

const list = listCommand({
  endpoint: permissions.list,
  examples: ['', '--level deny', '--skill-id http'],
  rows: 'permissions',
  columns,
  next: ([first]) =>
    first ? undefined : 'No permissions are set. Each tool has its default: adjutant skills tools',
});

/** `http.request`, or `http.*` for all of a skill. */
const parsePermissionTarget = (typed: string) => {
  const [skillId, action] = parseToolName(typed, 'http.request, or http.* for all.');
  return { skillId, action };
};

const set = requestCommand({
  name: 'set',
  args: '<tool> <level>',
  values: { level: ['allow', 'ask', 'deny'] },
  endpoint: permissions.set,
  examples: [
    'http.request allow --reason "My own services"',
    "'shell.*' deny",
    'web.read ask --expires-at 2026-12-31T00:00:00Z',
  ],
  except: ['skillId', 'action', 'level'],
  notes: [
    'Levels are allow, ask and deny. deny overrides everything, including grants of hooks.',
    'Untrusted agents need an approval for side effects, even with allow.',
  ],
  more: (_, { args: { tool, level } }) => ({ ...parsePermissionTarget(tool), level }),
  show: ({ out }, permission, { args: { tool } }) =>
    out.done(`${oneLine(tool)} is set to ${permission.level}.`, permission, columns),
});

const reset = requestCommand({
  name: 'reset',
  args: '<tool>',
  endpoint: permissions.reset,
  examples: ['http.request', "'shell.*'", 'http.request --org acme'],
  except: [],
  at: (_, { tool }) => parsePermissionTarget(tool),
  show: ({ out }, _, { args: { tool } }) => out.done(`${oneLine(tool)} is reset to its default.`),
});

export const permissionsGroup: CommandGroup = {
  commands: [list, set, reset],
};

export const changeNote = (skills: SkillReply[]): string | undefined => {
  const changed = skills.find(({ status }) => status === 'quarantined');
  return changed && `Show the changes and accept them: adjutant mcp accept ${safe(changed.id)}`;
};

export const skillsGroup: CommandGroup = {
  commands: [
    skillCrud.list({
      examples: ['', '--source folder', '--status quarantined'],
      next: (rows) => {
        const bad = rows.find(({ status }) => status === 'invalid' || status === 'failed');
        return changeNote(rows) ?? (bad && `Show the error: adjutant skills get '${safe(bad.id)}'`);
      },
      seeAlso: 'adjutant skills tools, adjutant mcp add',
    }),
    skillCrud.get({ examples: ['files', 'pdf --json', 'time --fields id,status'] }),
    tools,
    skillRun,
  ],
  notes: ['A skill is a folder skills/<name> in the home that contains a SKILL.md.'],
};
