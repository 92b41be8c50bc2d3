import type { Context } from '../context.js';
import { failed, interrupted } from '../exit.js';
import { safe } from '../text.js';
import { type BackupStep, progressLine } from './progress.js';

interface OfflineTask<T> {
  done: Promise<T>;
  cancel(): void;
}

/** Reasons that stand in the sentence itself: nothing of ours is broken. */
const EXPECTED = ['BadBackup', 'PassphraseError', 'OpenRefused', 'Disk'];

/**
 * Work on this machine, without a daemon: how far it is on stderr, ^C ends it and what it had
 * written temporarily. `what` begins the sentence where it fails: `Not restored`.
 */
export const offline = async <T>(
  { streams, signal }: Context,
  what: string,
  begin: (told: (step: BackupStep) => void) => OfflineTask<T>,
): Promise<T> => {
  const line = progressLine(streams.stderr);
  const ended = new AbortController();
  try {
    const work = begin(line.show);
    signal.addEventListener('abort', () => work.cancel(), { signal: ended.signal });
    return await work.done;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === 'Cancelled') throw interrupted(`${what}.`);
    const reason = 'reason' in error ? String(error.reason) : error.name;
    if (![...EXPECTED, 'BadSetting'].includes(reason)) throw error;
    throw failed(`${what}: ${safe(error.message)}.`);
  } finally {
    ended.abort();
    line.clear();
  }
};
