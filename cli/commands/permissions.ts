import { contracts, type Permission } from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { listCommand } from '../list.js';
import { oneLine } from '../text.js';
import { ago } from '../times.js';

const endpoints = await contracts.permissions();

const columns: TableColumn<Permission>[] = [
  { name: 'tool', value: ({ skillId, action }) => `${skillId}.${action}` },
  { name: 'level', value: (permission) => permission.level, isState: true },
  shownAs('expires', (permission) => permission.expiresAt, ago, 'never'),
  { name: 'reason', value: (permission) => permission.reason },
  shownAs('updated', (permission) => permission.updatedAt, ago, 'never'),
];

const list = listCommand({
  endpoint: endpoints.list,
  examples: ['', '--level deny', '--skill-id http'],
  rows: 'permissions',
  columns,
  next: ([first]) =>
    first ? undefined : 'Nothing is set: each tool has its default, see adjutant skills tools',
});

const set = command({
  name: 'set',
  args: '<tool> <level>',
  values: { level: ['allow', 'ask', 'deny'] },
  calls: [endpoints.set],
  examples: [
    'http.request allow --reason "My own services"',
    "'shell.*' deny",
    'web.read ask --expires-at 2026-12-31T00:00:00Z',
  ],
  fields: () => requestFields(endpoints.set.body, ['skillId', 'action', 'level']),
  notes: [
    'A level is allow, ask or deny; deny beats everything, grants of hooks included.',
    'Agents that read what came from outside ask all the same before what has effects.',
  ],
  run: async (context, { args, fields }) => {
    const filled = { fields, more: { ...toolOf(args.tool), level: args.level } };
    const body = await requestFrom(endpoints.set.body, filled, context.at);
    const permission = await (await context.client()).permissions.set({ body });
    context.out.done(`${oneLine(args.tool)} is set to ${permission.level}.`, permission, columns);
  },
});

const reset = command({
  name: 'reset',
  args: '<tool>',
  calls: [endpoints.reset],
  examples: ['http.request', "'shell.*'", 'http.request --json'],
  run: async (context, { args }) => {
    await (await context.client()).permissions.reset(toolOf(args.tool));
    context.out.done(`${oneLine(args.tool)} has its default again.`);
  },
});

/** `http.request`, or `http.*` for all of a skill. */
const toolOf = (typed: string): { skillId: string; action: string } => {
  const [, skillId, action] = /^([^.]+)\.(.+)$/.exec(typed) ?? [];
  if (skillId && action) return { skillId, action };
  throw usageFault(
    `"${oneLine(typed)}" is no tool. One looks like http.request, or http.* for all.`,
  );
};

export const permissionsGroup: CommandGroup = {
  commands: [list, set, reset],
};
