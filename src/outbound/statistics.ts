import { sql } from 'kysely';
import type { Queue } from '../jobs/queue.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { Store } from '../store/store.js';
import { ENDPOINT } from './transport.js';

interface OutboxReport {
  status: 'ok' | 'warn';
  detail: string;
}

const HOUR_MS = 3600_000;

/**
 * Reports the messages that did not arrive in the last hour, by the kind of their target. They are
 * not a fault of the daemon.
 */
export const lookAtOutbox = async (deps: {
  store: Store;
  clock: Clock;
  outgoing: Queue;
}): Promise<OutboxReport> => {
  const since = iso(deps.clock.now() - HOUR_MS);
  const rows = await deps.store.db
    .selectFrom('sendings as s')
    .leftJoin('channels as c', 'c.id', 's.channel_id')
    .select((of) => [
      of.fn.coalesce('c.kind', of.val(ENDPOINT)).as('target'),
      of.fn.countAll<number>().as('count'),
    ])
    // These are literals, because otherwise their index is not used.
    .where('s.status', 'in', [sql.lit<'failed'>('failed'), sql.lit<'unknown'>('unknown')])
    .where('s.finished_at', '>=', since)
    .groupBy('target')
    .orderBy('target')
    .execute();
  const { waiting, running } = deps.outgoing.totals();
  const lost = rows.map(({ target, count }) => `${target} ${count}`).join(', ');
  const detail = `${waiting} waiting, ${running} under way`;
  return rows.length === 0
    ? { status: 'ok', detail }
    : { status: 'warn', detail: `${detail}; not delivered in the last hour: ${lost}` };
};
