import type { Client, Operation } from '../../src/client/index.js';
import { isReadAloud } from '../../src/client/session.js';
import { columnsOf } from '../columns.js';
import { type Context, on, type Streams } from '../command.js';
import { CliFault, failed, interrupted } from '../exit.js';
import { cutToWidth, now, oneLine } from '../text.js';
import { barOf, countsOf, doneOf, isOver, type ProgressSample, samplesWith } from './bar.js';

const CLEAR_LINE = '\r\u001b[K';
/** Seconds that the daemon may wait for the next change. */
const WAIT_S = 25;

export const operationColumns = columnsOf<Operation>(
  ['id:data', 'kind', 'status:state', 'at=createdAt:ago'],
  {
    name: 'progress',
    value: ({ progress }) => progress?.done,
    show: ({ progress }) => (progress ? countsOf(progress) : ''),
  },
  ['total=progress.total:data', 'title', 'short=id:tail', 'error'],
);

/** The flag of the commands that begin an operation. */
export const noWait = on('Return at once, and leave it running');

/** The end by which the commands know an operation. */
const tailOf = ({ id }: Operation): string => id.slice(-6);

/**
 * One line on a terminal that says how far it is; nothing in a pipe. For a screen reader each
 * quarter once.
 */
const progressLine = (stderr: Streams['stderr'], begun: ProgressSample) => {
  const isRewritten = !isReadAloud();
  let quarter = -1;
  let seen = [begun];
  return {
    show: (operation: Operation): void => {
      if (!stderr.isTTY) return;
      const at = now();
      seen = samplesWith(seen, { at, done: doneOf(operation) });
      const bar = barOf(operation, seen[0] ?? begun, at);
      if (isRewritten) {
        stderr.write(CLEAR_LINE + cutToWidth(bar, (stderr.columns || 80) - 1));
        return;
      }
      const { done = 0, total = null } = operation.progress ?? {};
      const reached = total ? Math.floor((4 * done) / total) : 0;
      if (reached > quarter && operation.progress)
        stderr.write(`${countsOf(operation.progress)}\n`);
      quarter = Math.max(quarter, reached);
    },
    clear: (): void => {
      if (stderr.isTTY && isRewritten) stderr.write(CLEAR_LINE);
    },
  };
};

/**
 * Follows an operation to its end. On ^C it asks on a terminal if the operation is to be cancelled;
 * else it goes on. Failed: it ended without having done everything.
 */
export const followOperation = async (context: Context, begun: Operation): Promise<Operation> => {
  const client = await context.listener();
  const since = { at: now(), done: doneOf(begun) };
  const line = progressLine(context.streams.stderr, since);
  let operation = begun;
  try {
    while (!isOver(operation)) {
      line.show(operation);
      operation = await client.operations.get({ id: begun.id, query: { wait: WAIT_S } });
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
    line.clear();
    throw await afterInterrupt(context, client, operation);
  }
  line.clear();
  if (operation.status === 'completed') return operation;
  const why = operation.error === null ? '' : `: ${oneLine(operation.error)}`;
  const far = operation.progress?.note ? `Until then: ${oneLine(operation.progress.note)}.` : '';
  throw failed(`It is ${operation.status}${why}.`, ...(far === '' ? [] : [far]));
};

/** Asks what ^C was meant to end, and makes the fault with which the command ends. */
const afterInterrupt = async (
  context: Context,
  client: Client,
  operation: Operation,
): Promise<Error> => {
  const tail = tailOf(operation);
  if (await isToBeCancelled(context)) {
    const { operations } = client.with({ signal: undefined });
    const { progress } = await operations.cancel({ id: operation.id });
    return interrupted(`Cancelled. Until then: ${progress?.note ?? 'nothing was done'}.`);
  }
  return interrupted(
    `It goes on without you. Look: adjutant operations watch ${tail}`,
    `To end it: adjutant operations cancel ${tail}`,
  );
};

/** A second ^C, at the question, leaves the operation running as well. */
const isToBeCancelled = async ({ ask, isLate }: Context): Promise<boolean> => {
  if (!ask.isPossible || isLate) return false;
  try {
    const question = { ask: 'Cancel it, too? Without that it goes on.', instead: '--no-wait' };
    return await ask.agree(question, false);
  } catch (error) {
    if (error instanceof CliFault) return false;
    throw error;
  }
};

/** Shows an operation that was begun: its end, or with `--no-wait` that it runs. */
export const showBegun = async (
  context: Context,
  begun: Operation,
  flags: { noWait?: boolean },
): Promise<void> => {
  const { out } = context;
  if (flags.noWait) {
    out.done(`It runs. Look: adjutant operations watch ${tailOf(begun)}`, begun, operationColumns);
    return;
  }
  showEnd(context, await followOperation(context, begun));
};

/** Shows an operation that has completed. */
export const showEnd = ({ out }: Context, ended: Operation): void => {
  out.done(`Done: ${oneLine(ended.progress?.note ?? ended.title)}.`, ended, operationColumns);
  for (const [reason, count] of reasonsOf(ended)) {
    if (out.format === 'table') out.note(`Skipped, ${reason}: ${count}`);
  }
};

const reasonsOf = ({ result }: Operation): [string, unknown][] => {
  const reasons = result?.reasons;
  if (typeof reasons !== 'object' || reasons === null) return [];
  return Object.entries(reasons).map(([code, count]) => [skipReasons[code] ?? code, count]);
};

/** The reasons why something is skipped, in words. */
export const skipReasons: Record<string, string> = {
  replayed: 'it was run again already',
  repeated: 'its sender sent it again, and that ran',
  effect_done: 'its effect may already be done; --force does it again',
  exhausted: 'its hook has run as often as it may',
  disabled: 'the webhook is disabled',
};
