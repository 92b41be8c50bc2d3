import { contracts } from '../../src/client/index.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { usage } from '../exit.js';
import { fieldsOf, requestFrom } from '../fields.js';
import { readInput } from '../input.js';
import { listCommand } from '../list.js';
import { executionColumns, executionId, hookCrud } from './columns.js';

const endpoints = await contracts.hooks();

export const listExecutions = listCommand({
  endpoint: endpoints.executions,
  name: 'executions',
  args: '<hook>',
  examples: ['github-issues', 'github-issues --status error', 'github-issues --output id --all'],
  rows: 'executions',
  columns: executionColumns,
  within: async (client, { hook }) => ({ id: await hookCrud.id(client, hook) }),
  next: ([first], { hook }) =>
    first
      ? `One of them whole: adjutant hooks execution ${hook} ${first.id.slice(-6)}`
      : `No runs. Fire it: adjutant hooks test ${hook}`,
  seeAlso: 'adjutant hooks execution, adjutant hooks replay',
});

export const getExecution = command({
  name: 'execution',
  args: '<hook> <execution>',
  calls: [endpoints.execution],
  examples: [
    'github-issues 4ew6rt',
    'github-issues 4ew6rt --json',
    'github-issues 4ew6rt --fields status,error',
  ],
  run: async (context, { args }) => {
    const { client, id } = await hookCrud.find(context, args.hook);
    const run = await executionId(client, id, args.execution);
    context.out.item(await client.hooks.execution({ id, executionId: run }), executionColumns);
  },
});

export const testHook = command({
  name: 'test',
  args: '<hook> [payload]',
  calls: [endpoints.test],
  examples: [
    'github-issues',
    'github-issues issue.json --event issues',
    'github-issues issue.json --dry-run',
  ],
  fields: () => fieldsOf(endpoints.test.body, ['payload']),
  notes: ['The payload is a file, or - for stdin; {} without one. --dry-run connects to nothing.'],
  seeAlso: 'adjutant hooks send, which goes through the receiver and its signature',
  run: async (context, { args, fields }) => {
    const { client, id } = await hookCrud.find(context, args.hook);
    const payload = args.payload === undefined ? {} : await payloadFrom(context, args.payload);
    const more = { payload };
    const body = await requestFrom(endpoints.test.body, { fields, more }, context.at);
    const reply = await client.hooks.test({ id, body });
    // With `dryRun` the reply is what would be done, which has no id.
    if (!('id' in reply)) return context.out.item<object>(reply, []);
    context.out.item(reply, executionColumns);
    const tail = reply.id.slice(-6);
    context.out.note(`What came of it: adjutant hooks execution ${args.hook} ${tail}`);
  },
});

const payloadFrom = async (context: Context, file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readInput(context, file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usage(`${file} is not JSON: ${error.message}`);
  }
};

export const replayExecution = command({
  name: 'replay',
  args: '<hook> <execution>',
  calls: [endpoints.replay],
  examples: ['github-issues 4ew6rt', 'deploy-notify 4ew6rt --force', 'github-issues 4ew6rt --json'],
  fields: () => fieldsOf(endpoints.replay.body),
  run: async (context, { args, fields }) => {
    const { client, id } = await hookCrud.find(context, args.hook);
    const run = await executionId(client, id, args.execution);
    const body = await requestFrom(endpoints.replay.body, { fields }, context.at);
    const reply = await client.hooks.replay({ id, executionId: run, body });
    const tail = reply.id.slice(-6);
    const next = `What came of it: adjutant hooks execution ${args.hook} ${tail}`;
    context.out.done(`Runs again as ${tail}. ${next}`, reply, executionColumns);
  },
});
