import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { Client, Operation } from '../../src/client/index.js';
import { isReadAloud } from '../../src/client/session.js';
import { columnsOf } from '../columns.js';
import { type Context, on, type Streams } from '../command.js';
import { CliFault, failed, interrupted, unlessRefused } from '../exit.js';
import { cutToWidth, now, oneLine } from '../text.js';
import { barOf, countsOf, doneOf, isOver, type ProgressSample, samplesWith } from './bar.js';

const CLEAR_LINE = '\r\u001b[K';
/** Seconds that the daemon may wait for the next change. */
const WAIT_S = 25;
/** Ours: the time in which a daemon that went away may come back. */
const RECONNECT_MS = 60_000;
const RETRY_MS = 1000;

export const operationColumns = columnsOf<Operation>(
  ['id:data', 'kind', 'status:state', 'at=createdAt:ago'],
  {
    name: 'progress',
    value: ({ progress }) => progress?.done,
    show: ({ progress }) => (progress ? countsOf(progress) : ''),
  },
  ['total=progress.total:data', 'short=id:tail', 'title', 'error'],
);

/** The flag of the commands that begin an operation. */
export const noWait = on('Return at once, and leave it running');

/** The end by which the commands know an operation. */
const tailOf = ({ id }: Operation): string => id.slice(-6);

/** The means to say how far an operation is. */
interface ProgressDisplay {
  show(operation: Operation): void;
  /** Says that it waits for the daemon. */
  wait(): void;
  /** Removes what is not to stay. */
  clear(): void;
}

/**
 * One line on a terminal that says how far it is; nothing in a pipe. For a screen reader each
 * quarter once.
 */
const progressLine = (
  stderr: Streams['stderr'],
  begun: ProgressSample,
  doing: string,
): ProgressDisplay => {
  const isRewritten = !isReadAloud();
  const before = doing === '' ? '' : `${doing}  `;
  let isDrawn = false;
  let quarter = -1;
  let seen = [begun];
  const draw = (text: string): void => {
    stderr.write(CLEAR_LINE + cutToWidth(before + text, (stderr.columns || 80) - 1));
    isDrawn = true;
  };
  return {
    wait: (): void => {
      if (stderr.isTTY && isRewritten) draw('The daemon does not answer. Trying again…');
    },
    show: (operation: Operation): void => {
      if (!stderr.isTTY) return;
      const at = now();
      seen = samplesWith(seen, { at, done: doneOf(operation) });
      const bar = barOf(operation, seen[0] ?? begun, at);
      if (isRewritten) {
        draw(bar);
        return;
      }
      const { done = 0, total = null } = operation.progress ?? {};
      const reached = total ? Math.floor((4 * done) / total) : 0;
      if (reached > quarter && operation.progress)
        stderr.write(`${before}${countsOf(operation.progress)}\n`);
      quarter = Math.max(quarter, reached);
    },
    clear: (): void => {
      if (isDrawn) stderr.write(CLEAR_LINE);
      isDrawn = false;
    },
  };
};

interface FollowedOperations {
  /** Said before the progress: `Reading 2 of 3`. */
  doing?: string;
  /** Ids of the operations that were begun with it, and are cancelled with it. */
  others?: string[];
  /** Says how far it is, in place of the line with its rate and the time left. */
  line?: ProgressDisplay;
}

/**
 * Follows an operation to its end, whatever that is. On ^C it asks on a terminal if the operation is
 * to be cancelled, and the others with it; else they go on.
 */
export const untilOver = async (
  context: Context,
  begun: Operation,
  { doing = '', others = [], line: given }: FollowedOperations = {},
): Promise<Operation> => {
  const client = await context.listener();
  const since = { at: now(), done: doneOf(begun) };
  const line = given ?? progressLine(context.streams.stderr, since, doing);
  const next = () => client.operations.get({ id: begun.id, query: { wait: WAIT_S } });
  let operation = begun;
  try {
    while (!isOver(operation)) {
      line.show(operation);
      operation = await reconnecting(context, next, line.wait);
    }
  } catch (error) {
    line.clear();
    if (!context.signal.aborted) throw error;
    throw await afterInterrupt(context, client, [operation.id, ...others]);
  }
  line.clear();
  return operation;
};

/** Tries again for a while if the daemon is away: it may only have been started anew. */
const reconnecting = async (
  { signal }: Context,
  read: () => Promise<Operation>,
  wait: () => void,
): Promise<Operation> => {
  const until = now() + WAIT_S * 1000 + RECONNECT_MS;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isAway =
        error instanceof Unreachable || (error instanceof ApiError && error.statusCode === 503);
      if (!isAway || signal.aborted || now() > until) throw error;
      wait();
      await pause(RETRY_MS, undefined, { signal });
    }
  }
};

/**
 * Follows an operation to its end. On ^C it asks on a terminal if the operation is to be cancelled;
 * else it goes on. Failed: it ended without having done everything.
 */
export const followOperation = async (context: Context, begun: Operation): Promise<Operation> => {
  const operation = await untilOver(context, begun);
  if (operation.status === 'completed') return operation;
  const why = operation.error === null ? '' : `: ${oneLine(operation.error)}`;
  const far = operation.progress?.note ? `Until then: ${oneLine(operation.progress.note)}.` : '';
  throw failed(`It is ${operation.status}${why}.`, ...(far === '' ? [] : [far]));
};

/** Asks what ^C was meant to end, and makes the fault with which the command ends. */
const afterInterrupt = async (context: Context, client: Client, ids: string[]): Promise<Error> => {
  const [id = ''] = ids;
  const isCancelled = await isToBeCancelled(context, ids.length);
  const { operations } = client.with({ signal: undefined });
  if (ids.length > 1) {
    if (!isCancelled) return interrupted('They go on without you. Look: adjutant operations list');
    // Some may have ended by now.
    for (const each of ids) await unlessRefused([409], operations.cancel({ id: each }));
    return interrupted('Cancelled, all that had not ended.');
  }
  if (isCancelled) {
    const { progress } = await operations.cancel({ id });
    return interrupted(`Cancelled. Until then: ${progress?.note ?? 'nothing was done'}.`);
  }
  const tail = id.slice(-6);
  return interrupted(
    `It goes on without you. Look: adjutant operations watch ${tail}`,
    `To end it: adjutant operations cancel ${tail}`,
  );
};

/** A second ^C, at the question, leaves the operation running as well. */
const isToBeCancelled = async ({ ask, isLate }: Context, count: number): Promise<boolean> => {
  if (!ask.isPossible || isLate) return false;
  try {
    const words =
      count > 1
        ? `Cancel all ${count}, too? Without that they go on.`
        : 'Cancel it, too? Without that it goes on.';
    const question = { ask: words, instead: '--no-wait' };
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
