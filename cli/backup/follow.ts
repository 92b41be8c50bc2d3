import type { BackupView, Client } from '../../src/client/index.js';
import type { Context } from '../context.js';
import { failed, interrupted } from '../exit.js';
import { progressLine } from './progress.js';

/** Seconds; each question is an entry of the audit log. */
const WAIT_S = 5;

/** Waits for the end of what the daemon makes or verifies. Failed: it did not come about. */
export const followed = async (context: Context, begun: BackupView): Promise<BackupView> => {
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
    throw interrupted(`It goes on without you. To end it: adjutant backup cancel ${begun.id}`);
  } finally {
    line.clear();
  }
  if (now.status === 'done') return now;
  const what = now.kind === 'create' ? 'No backup was made' : 'Not proved';
  throw failed(`${what}: ${now.error ?? now.status}.`, 'See: adjutant backup list');
};
