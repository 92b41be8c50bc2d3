import { failed, interrupted } from '../exit.js';
import { hasEnded, signalTo } from './process.js';
import { type DaemonRecord, dropRecord } from './record.js';

const STOPPED_WITHIN_MS = 30_000;
const KILLED_WITHIN_MS = 5_000;

export interface Stop {
  home: string;
  record: DaemonRecord;
  /** End it hard when it does not end by itself. */
  isForced: boolean;
  signal: AbortSignal;
}

/** Asks the daemon to finish and waits for its end. Failed: it still runs after 30 s. */
export const stopDaemon = async ({ home, record, isForced, signal }: Stop): Promise<void> => {
  signalTo(record, 'SIGTERM');
  const isStopped = await hasEnded(record, { withinMs: STOPPED_WITHIN_MS, signal }).catch(() => {
    throw interrupted('It goes on stopping: adjutant status');
  });
  if (!isStopped && !isForced) {
    throw failed(
      `Still stopping after ${STOPPED_WITHIN_MS / 1000} s: pid ${record.pid} finishes what runs.`,
      'Watch it: adjutant logs -f        End it hard: adjutant down --force',
    );
  }
  if (!isStopped) await kill(record);
  dropRecord(home);
};

const kill = async (record: DaemonRecord): Promise<void> => {
  signalTo(record, 'SIGKILL');
  if (await hasEnded(record, { withinMs: KILLED_WITHIN_MS })) return;
  throw failed(`Even SIGKILL did not end pid ${record.pid}: the system holds it.`);
};
