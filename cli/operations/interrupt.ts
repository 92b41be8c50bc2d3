import type { Client, Operation } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { CliFault, interrupted, unlessRefused } from '../exit.js';
import { oneLine } from '../text.js';
import { isOver } from './bar.js';
import { countsOf } from './counts.js';

/** Seconds that the daemon may wait for the next change. */
export const WAIT_S = 25;

/**
 * Returns a sentence on how far an operation came: of a download its bytes, else its last note. One
 * that has all bytes, or none, failed for another reason.
 */
export const lastState = ({ progress }: Operation): string[] => {
  if (progress === null) return [];
  const { done, total, unit, note } = progress;
  if (unit === 'bytes')
    return done > 0 && (total === null || done < total)
      ? [`The last state was: ${countsOf(progress)}.`]
      : [];
  return note === null ? [] : [`The last state was: ${oneLine(note)}.`];
};

/** Says that an operation was cancelled, and how far it came. */
export const cancelledText = (operation: Operation): string =>
  ['Cancelled.', ...lastState(operation)].join(' ');

/**
 * Asks what ^C was meant to end, and throws the fault with which the command ends. Returns the
 * operation if it ended before there was an answer.
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
      throw interrupted('They go on without you. Look: adjutant operations list');
    // Some may have ended by now.
    for (const each of ids) await unlessRefused([409], operations.cancel({ id: each }));
    throw interrupted('Cancelled, all that had not ended.');
  }
  const answer = await untilAnswered(client, id, (end) => isToBeCancelled(context, 'it', end));
  if (typeof answer === 'object') return answer;
  if (answer) {
    const cancelled = await unlessRefused([409], operations.cancel({ id }));
    if (cancelled === null) return operations.get({ id });
    throw interrupted(cancelledText(cancelled));
  }
  const tail = id.slice(-6);
  throw interrupted(
    `It goes on without you. Look: adjutant operations watch ${tail}`,
    `To end it: adjutant operations cancel ${tail}`,
  );
};

/** Asks while it looks at an operation, whose end makes the question needless and is returned then. */
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
  // A daemon that is away tells of no end.
  const looking = look().catch(() => null);
  try {
    const answer = await ask(ended.signal);
    return answer ?? (await looking) ?? false;
  } finally {
    answered.abort();
  }
};

/** A second ^C, at the question, leaves the operation running as well. Null: it ended meanwhile. */
const isToBeCancelled = async (
  { ask, isLate }: Context,
  what: string,
  end?: AbortSignal,
): Promise<boolean | null> => {
  if (!ask.isPossible || isLate) return false;
  const goes = what === 'it' ? 'it goes' : 'they go';
  const words = `Cancel ${what}, too? Without that ${goes} on.`;
  try {
    return await ask.agree({ ask: words, instead: '--no-wait' }, false, end);
  } catch (error) {
    if (end?.aborted) return null;
    if (error instanceof CliFault) return false;
    throw error;
  }
};
