import { ApiError, Unreachable } from '../../src/client/errors.js';
import type { Operation } from '../../src/client/index.js';
import { usesScreenReader } from '../../src/client/session.js';
import { buildColumns, withDropOrder } from '../columns.js';
import { type Context, switchFlag } from '../command.js';
import { failed } from '../exit.js';
import type { Streams } from '../invocation.js';
import { cutToWidth, now, oneLine } from '../text.js';
import {
  appendSample,
  isOver,
  type ProgressSample,
  progressDone,
  renderProgressBar,
  retryText,
  type ShownState,
} from './bar.js';
import { formatProgressCounts } from './counts.js';
import { afterInterrupt, lastProgressText, WAIT_S } from './interrupt.js';

const CLEAR_LINE = '\r\u001b[K';
/** Maximum time for a daemon to come back. */
const RECONNECT_MS = 60_000;
const RETRY_MS = 1000;

const allColumns = buildColumns<Operation>(
  ['id:data', 'kind', 'status:state', 'at=createdAt:ago'],
  {
    name: 'progress',
    value: ({ progress }) => progress?.done,
    show: ({ progress }) => (progress ? formatProgressCounts(progress) : ''),
  },
  ['total=progress.total:data', 'short=id:tail', 'title', 'error'],
);

export const operationColumns = withDropOrder(['error', 'kind', 'progress'], allColumns);

export const noWait = switchFlag('Return immediately and let the operation continue on the daemon');

const getShortId = ({ id }: Operation): string => id.slice(-6);

interface ProgressDisplay {
  show(operation: ShownState): void;
  /** Shows that it waits for the daemon. */
  wait(): void;
  /** Removes temporary output. */
  clear(): void;
}

/** A progress line on a terminal; nothing in a pipe. With a screen reader, each quarter once. */
export const rateLine = (
  stderr: Streams['stderr'],
  begun: ProgressSample,
  doing: string,
): ProgressDisplay => {
  const isRewritten = !usesScreenReader();
  const before = doing === '' ? '' : `${doing}  `;
  let isDrawn = false;
  let quarter = -1;
  let retried = '';
  let samples = [begun];
  const draw = (text: string): void => {
    stderr.write(CLEAR_LINE + cutToWidth(before + text, (stderr.columns || 80) - 1));
    isDrawn = true;
  };
  return {
    wait: (): void => {
      if (stderr.isTTY && isRewritten) draw('The daemon does not reply. Retrying…');
    },
    show: (operation: ShownState): void => {
      if (!stderr.isTTY) return;
      const at = now();
      samples = appendSample(samples, { at, done: progressDone(operation) });
      const bar = renderProgressBar(operation, samples[0] ?? begun, at);
      if (isRewritten) {
        draw(bar);
        return;
      }
      const { done = 0, total = null, retry } = operation.progress ?? {};
      if (retry && retry.nextAt !== retried) stderr.write(`${before}${retryText(retry)}\n`);
      retried = retry?.nextAt ?? '';
      const reached = total ? Math.floor((4 * done) / total) : 0;
      if (reached > quarter && operation.progress)
        stderr.write(`${before}${formatProgressCounts(operation.progress)}\n`);
      quarter = Math.max(quarter, reached);
    },
    clear: (): void => {
      if (isDrawn) stderr.write(CLEAR_LINE);
      isDrawn = false;
    },
  };
};

interface FollowedOperations {
  /** Prefix of the progress: `Reading 2 of 3`. */
  doing?: string;
  /** Ids of operations that were started with it and are cancelled with it. */
  others?: string[];
  /** Replaces the line with the rate and the time left. */
  line?: ProgressDisplay;
}

/**
 * Follows an operation to its end. On ^C a terminal asks whether to cancel it and the others;
 * otherwise they continue.
 */
export const awaitOperationEnd = async (
  context: Context,
  begun: Operation,
  { doing = '', others = [], line: input }: FollowedOperations = {},
): Promise<Operation> => {
  const client = await context.listener();
  const since = { at: now(), done: progressDone(begun) };
  const line = input ?? rateLine(context.streams.stderr, since, doing);
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
    operation = await afterInterrupt(context, client, [operation.id, ...others]);
  }
  line.clear();
  return operation;
};

/** Retries for a while if the daemon is away, because it may be restarting. */
const reconnecting = async (
  { signal, clock }: Context,
  read: () => Promise<Operation>,
  wait: () => void,
): Promise<Operation> => {
  const until = clock.now() + WAIT_S * 1000 + RECONNECT_MS;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isAway =
        error instanceof Unreachable || (error instanceof ApiError && error.statusCode === 503);
      if (!isAway || signal.aborted || clock.now() > until) throw error;
      wait();
      await clock.wait(RETRY_MS, signal);
    }
  }
};

/**
 * Follows an operation to its end. Throws if it did not complete; `failure` begins the message of
 * a failed one.
 */
export const followOperation = async (
  context: Context,
  begun: Operation,
  failure = 'The operation failed',
): Promise<Operation> => {
  const operation = await awaitOperationEnd(context, begun);
  if (operation.status === 'completed') return operation;
  const why = operation.error === null ? '' : `: ${oneLine(operation.error)}`;
  const isFailed = operation.status === 'failed';
  const end = isFailed ? failure : `The operation ended with the status ${operation.status}`;
  throw failed(`${end}${why}.`, ...lastProgressText(operation));
};

/** Shows the end of an operation. With `--no-wait` shows that it runs and returns null. */
export const showStarted = async (
  context: Context,
  begun: Operation,
  flags: { noWait?: boolean },
): Promise<Operation | null> => {
  const { out } = context;
  if (flags.noWait) {
    out.done(
      `Started. Follow it: adjutant operations watch ${getShortId(begun)}`,
      begun,
      operationColumns,
    );
    return null;
  }
  const ended = await followOperation(context, begun);
  showEnd(context, ended);
  return ended;
};

/** In a pipe the row does not include the outcome, so that is printed to stderr. */
export const noteOutcome = ({ out }: Context, ended: Operation | null): void => {
  if (ended && out.format === 'tsv') out.note(endText(ended));
};

const endText = ({ progress, title }: Operation): string =>
  `Done: ${oneLine(progress?.note ?? title)}.`;

export const showEnd = ({ out }: Context, ended: Operation): void => {
  out.done(endText(ended), ended, operationColumns);
  for (const [reason, count] of listSkipReasons(ended)) {
    if (out.format === 'table') out.note(`Skipped, ${reason}: ${count}`);
  }
};

const listSkipReasons = ({ result }: Operation): [string, unknown][] => {
  const reasons = result?.reasons;
  if (typeof reasons !== 'object' || reasons === null) return [];
  return Object.entries(reasons).map(([code, count]) => [skipReasons[code] ?? code, count]);
};

export const skipReasons: Record<string, string> = {
  replayed: 'already replayed',
  repeated: 'sent again by its sender, and that ran',
  effect_done: 'the action may already have run; --force runs it again',
  exhausted: 'the hook has reached its execution limit',
  disabled: 'the webhook is disabled',
};
