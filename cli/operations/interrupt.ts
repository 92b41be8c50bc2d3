import type { Client, Operation } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { CliFault, interrupted, nullIfRefused } from '../exit.js';
import { oneLine } from '../text.js';
import { isOver } from './bar.js';
import { formatProgressCounts } from './counts.js';

/** Seconds that the daemon may wait for the next change. */
export const WAIT_S = 25;

/**
 * Describes how far an operation came: the bytes of a download, or else its last note. A download
 * with all bytes, or none, failed for another reason.
 */
export const lastProgressText = ({ progress }: Operation): string[] => {
  if (progress === null) return [];
  const { done, total, unit, note } = progress;
  if (unit === 'bytes')
    return done > 0 && (total === null || done < total)
      ? [`Last state: ${formatProgressCounts(progress)}.`]
      : [];
  return note === null ? [] : [`Last state: ${oneLine(note)}.`];
};

export const cancelledText = (operation: Operation): string =>
  ['Cancelled.', ...lastProgressText(operation)].join(' ');

/**
 * Asks what ^C should end, and throws the fault that ends the command. Returns the operation if
 * it ended before the answer.
 */
export const afterInterrupt = async (
  context: Context,
  client: Client,
  ids: string[],
): Promise<Operation> => {
  const [id = ''] = ids;
  const { operations } = client.with({ signal: undefined });
  if (ids.length > 1) {
    if ((await isToBeCancelled(context, `all ${ids.length}`)) !== true)
      throw interrupted('The operations continue. List them: adjutant operations list');
    // Some may have ended in the meantime.
    for (const each of ids) await nullIfRefused([409], operations.cancel({ id: each }));
    throw interrupted('Cancelled all operations that had not ended.');
  }
  const answer = await untilAnswered(client, id, (end) => isToBeCancelled(context, 'it', end));
  if (typeof answer === 'object') return answer;
  if (answer) {
    const cancelled = await nullIfRefused([409], operations.cancel({ id }));
    if (cancelled === null) return operations.get({ id });
    throw interrupted(cancelledText(cancelled));
  }
  const tail = id.slice(-6);
  throw interrupted(
    `The operation continues. Follow it: adjutant operations watch ${tail}`,
    `Cancel it: adjutant operations cancel ${tail}`,
  );
};

/**
 * Asks while it polls the operation. If that ends, the question is withdrawn and the operation
 * returned.
 */
const untilAnswered = async (
  client: Client,
  id: string,
  ask: (end: AbortSignal) => Promise<boolean | null>,
): Promise<boolean | Operation> => {
  const answered = new AbortController();
  const ended = new AbortController();
  const { operations } = client.with({ signal: answered.signal });
  const look = async (): Promise<Operation> => {
    for (;;) {
      const found = await operations.get({ id, query: { wait: WAIT_S } });
      if (!isOver(found)) continue;
      ended.abort();
      return found;
    }
  };
  // An unreachable daemon reports no end.
  const looking = look().catch(() => null);
  try {
    const answer = await ask(ended.signal);
    return answer ?? (await looking) ?? false;
  } finally {
    answered.abort();
  }
};

/** A second ^C, at the question, leaves the operation running. Null: it ended in the meantime. */
const isToBeCancelled = async (
  { ask, isLate }: Context,
  what: string,
  end?: AbortSignal,
): Promise<boolean | null> => {
  if (!ask.isPossible || isLate) return false;
  const goes = what === 'it' ? 'it continues' : 'they continue';
  const words = `Cancel ${what}, too? Otherwise ${goes}.`;
  try {
    return await ask.agree({ ask: words, instead: '--no-wait' }, false, end);
  } catch (error) {
    if (end?.aborted) return null;
    if (error instanceof CliFault) return false;
    throw error;
  }
};
