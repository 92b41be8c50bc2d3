import { contracts, type Execution } from '../../src/client/index.js';
import { command } from '../command.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { bulkFlags, refuseBulkFlags, workOnFailed } from '../operations/bulk.js';
import { executionId, executionTableColumns, hookCrud } from './hook.js';

const endpoints = await contracts.hooks();
const { create } = await contracts.replays();

export const outcomeNote = (hook: string, { id }: Execution): string =>
  `Check the outcome: adjutant hooks execution ${hook} ${id.slice(-6)}`;

export const replay = command({
  name: 'replay',
  args: '[hook] [execution]',
  summary: 'Replay one execution or all failed executions',
  calls: [endpoints.replay, create],
  examples: [
    'github-issues 4ew6rt',
    'deploy-notify 4ew6rt --force',
    '--failed --since 2h',
    'deploy-notify --failed --since 2026-01-31T09:30 --yes',
  ],
  fields: () => requestFields(create.body, ['hookId', 'since', 'until', 'dryRun']),
  flags: bulkFlags,
  notes: [
    '--failed lists the executions and asks. The oldest run first; live deliveries ' +
      'have priority.',
    'Skipped: executions that were replayed or repeated by the sender, and actions ' +
      'that may have run.',
  ],
  seeAlso: 'adjutant operations',
  run: async (context, { args: { hook, execution }, flags, fields }) => {
    const client = await context.client();
    if (flags.failed) {
      const hookId = hook === undefined ? undefined : await hookCrud.id(client, hook);
      return workOnFailed(
        context,
        { flags, fields },
        {
          schema: create.body,
          more: { hookId },
          send: (body, how) => client.replays.create({ body: { ...body, ...how } }),
          noun: 'execution',
          verb: 'Replay',
        },
      );
    }
    refuseBulkFlags(flags);
    if (hook === undefined || execution === undefined) {
      throw usageFault(
        'Pass a hook and an execution, or all failed executions: --failed --since 2h',
      );
    }
    const body = await requestFrom(endpoints.replay.body, { fields }, context.at);
    const id = await hookCrud.id(client, hook);
    const at = { id, executionId: await executionId(client, id, execution) };
    const run = await client.hooks.replay({ ...at, body });
    const outcome = `Running again as ${run.id.slice(-6)}. ${outcomeNote(hook, run)}`;
    context.out.done(outcome, run, executionTableColumns);
  },
});
