import { contracts } from '../../src/client/index.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readFileOrStdin } from '../input.js';
import { listCommand } from '../list.js';
import { executionId, executionTableColumns, hookCrud } from './columns.js';

const endpoints = await contracts.hooks();

export const listExecutions = listCommand({
  endpoint: endpoints.executions,
  name: 'executions',
  args: '<hook>',
  examples: ['github-issues', 'github-issues --status error', 'github-issues --output id --all'],
  rows: 'executions',
  columns: executionTableColumns,
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
    context.out.item(await client.hooks.execution({ id, executionId: run }), executionTableColumns);
  },
});

export const hookTest = command({
  name: 'test',
  args: '<hook> [payload]',
  calls: [endpoints.test],
  examples: [
    'github-issues',
    'github-issues issue.json --event issues',
    'github-issues issue.json --dry-run',
  ],
  fields: () => requestFields(endpoints.test.body, ['payload']),
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
    context.out.item(reply, executionTableColumns);
    const tail = reply.id.slice(-6);
    context.out.note(`What came of it: adjutant hooks execution ${args.hook} ${tail}`);
  },
});

const payloadFrom = async (context: Context, file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFileOrStdin(context, file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageFault(`${file} is not JSON: ${error.message}`);
  }
};

export const replayExecution = command({
  name: 'replay',
  args: '<hook> <execution>',
  calls: [endpoints.replay],
  examples: ['github-issues 4ew6rt', 'deploy-notify 4ew6rt --force', 'github-issues 4ew6rt --json'],
  fields: () => requestFields(endpoints.replay.body),
  run: async (context, { args, fields }) => {
    const { client, id } = await hookCrud.find(context, args.hook);
    const run = await executionId(client, id, args.execution);
    const body = await requestFrom(endpoints.replay.body, { fields }, context.at);
    const reply = await client.hooks.replay({ id, executionId: run, body });
    const tail = reply.id.slice(-6);
    const next = `What came of it: adjutant hooks execution ${args.hook} ${tail}`;
    context.out.done(`Runs again as ${tail}. ${next}`, reply, executionTableColumns);
  },
});
