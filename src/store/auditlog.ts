import type { AuditLog } from '../kernel/auditrecorder.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Log } from '../kernel/log.js';
import type { AuditReport } from './engine/protocol.js';
import type { Store } from './store.js';

export const auditLog = (store: Store, { clock, log }: { clock: Clock; log: Log }): AuditLog => ({
  append: async (audit) => {
    await store.transact([{ audit }]);
  },
  isWritten: async (id) => {
    const found = await store.db
      .selectFrom('audit')
      .select('number')
      .where('id', '=', id)
      .executeTakeFirst();
    return found !== undefined;
  },
  unwritten: (action, error) => log.error({ action, err: error }, 'failed to write an audit entry'),
  mintId: () => mint('audit', clock.now()),
  now: () => iso(clock.now()),
});

/** Also logs each head, because logs may be kept on another machine. */
export const logAudit =
  (log: Log) =>
  ({ head, problem }: AuditReport): void => {
    if (problem !== null) log.error({ head }, problem);
    else if (head) log.info({ head }, 'audit head');
  };
