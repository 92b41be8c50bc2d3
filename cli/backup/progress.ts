import type { BackupView, Client } from '../../src/client/index.js';
import { usesScreenReader } from '../../src/client/session.js';
import { buildColumns } from '../columns.js';
import type { Context } from '../command.js';
import { failed, interrupted } from '../exit.js';
import type { Streams } from '../invocation.js';
import { sizeText } from '../operations/counts.js';
import { safe } from '../text.js';

type BackupStep = NonNullable<BackupView['progress']>;

const CLEAR_LINE = '\r\u001b[K';
const STAGE_LABELS: Record<string, string> = {
  database: 'Copying the database',
  files: 'Writing',
  digests: 'Reading',
  copy: 'Copying',
  checks: 'Checking the database',
  drill: 'Starting the copy',
};

/**
 * Progress line on a terminal; nothing in a pipe. With a screen reader, each stage is printed
 * once.
 */
const progressLine = (stderr: Streams['stderr']) => {
  const isRewritten = !usesScreenReader();
  let last = '';
  return {
    show: ({ stage, done, total }: BackupStep): void => {
      if (!stderr.isTTY) return;
      const label = `${STAGE_LABELS[stage] ?? stage}…`;
      const size = total > 0 ? `${sizeText(done)} of ${sizeText(total)}` : sizeText(done);
      if (isRewritten) stderr.write(`${CLEAR_LINE}${label} ${done > 0 ? size : ''}`);
      else if (stage !== last) stderr.write(`${label}\n`);
      last = stage;
    },
    clear: (): void => {
      if (stderr.isTTY && isRewritten) stderr.write(CLEAR_LINE);
    },
  };
};

export const backupColumns = buildColumns<BackupView>(
  ['id:data', 'kind', 'status:state', 'at=createdAt:ago'],
  {
    name: 'size',
    value: ({ made }) => made?.bytes,
    show: ({ made }) => (made ? sizeText(made.bytes) : ''),
    isNumber: true,
  },
  ['cause', 'file', 'removed=removedAt:data', 'error'],
);

/** Seconds. Each poll writes an entry to the audit log. */
const WAIT_S = 5;

/** Waits until the daemon has finished a backup or verification. Throws if it did not succeed. */
export const followBackup = async (context: Context, begun: BackupView): Promise<BackupView> => {
  const client: Client = await context.listener();
  const line = progressLine(context.streams.stderr);
  let now = begun;
  try {
    while (now.status === 'running') {
      if (now.progress) line.show(now.progress);
      now = await client.backups.get({ id: begun.id, query: { wait: WAIT_S } });
    }
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw interrupted(
      `The daemon continues the work. Cancel it: adjutant backup cancel ${begun.id}`,
    );
  } finally {
    line.clear();
  }
  if (now.status === 'done') return now;
  const what = now.kind === 'create' ? 'Backup' : 'Verification';
  const outcome = now.error === null ? now.status : `failed: ${now.error}`;
  throw failed(`${what} ${outcome}.`, `Try again: adjutant backup ${now.kind}`);
};

/** Errors that are reported by their message alone, because nothing in the program is broken. */
const EXPECTED = ['BadBackup', 'PassphraseError', 'OpenRefused', 'Disk', 'BadSetting'];

/**
 * Runs work on this machine without a daemon and shows progress on stderr. ^C ends it and removes
 * its temporary files. `what` begins the error message: `Not restored`.
 */
export const runOffline = async <T>(
  { streams, signal }: Context,
  what: string,
  begin: (onStep: (step: BackupStep) => void) => { done: Promise<T>; cancel(): void },
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
    if (!EXPECTED.includes(reason)) throw error;
    throw failed(`${what}: ${safe(error.message)}.`);
  } finally {
    ended.abort();
    line.clear();
  }
};
