import { sql } from 'kysely';
import type { Base } from '../base.js';
import type { Queue } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import { ENDPOINT, REPLY } from './transport.js';

const HOUR_MS = 3600_000;

/** Not a fault of the daemon. */
export const reportOutbox = async (
  { store, clock }: Base,
  outgoing: Queue,
): Promise<{ status: 'ok' | 'warn'; detail: string }> => {
  const since = iso(clock.now() - HOUR_MS);
  const rows = await store.db
    .selectFrom('sendings as s')
    .leftJoin('channels as c', 'c.id', 's.channel_id')
    .select((of) => [
      of
        .case()
        .when('s.hook_id', 'is not', null)
        .then(REPLY)
        .else(of.fn.coalesce('c.kind', of.val(ENDPOINT)))
        .end()
        .as('target'),
      's.status',
      of.fn.countAll<number>().as('count'),
    ])
    // Literals; otherwise the index is not used.
    .where('s.status', 'in', [sql.lit<'failed'>('failed'), sql.lit<'unknown'>('unknown')])
    .where('s.finished_at', '>=', since)
    .groupBy(['s.status', 'target'])
    .orderBy('s.status')
    .orderBy('target')
    .execute();
  const { waiting, running } = outgoing.totals();
  const lost = Object.entries(LOST).flatMap(([status, text]) => {
    const counts = rows.filter((row) => row.status === status);
    if (counts.length === 0) return [];
    return `; ${text}: ${counts.map(({ target, count }) => `${target} ${count}`).join(', ')}`;
  });
  const detail = `${waiting} queued, ${running} in progress${lost.join('')}`;
  return { status: lost.length === 0 ? 'ok' : 'warn', detail };
};

const LOST = {
  failed: 'not delivered in the last hour',
  unknown: 'possibly not delivered in the last hour',
};
