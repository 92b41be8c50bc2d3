import { iso, systemClock } from './kernel/clock.js';
import type { AuditRecord } from './kernel/contract/audit.js';
import { mint } from './kernel/ids.js';

/** The person who has the machine and its keys, and need not have an account. */
const OPERATOR = 'operator';

/** For actions on the machine while the daemon is stopped. */
export const operatorEntry = (
  action: string,
  target: string | null,
  data: Record<string, unknown> = {},
): AuditRecord => ({
  id: mint('audit', systemClock.now()),
  at: iso(systemClock.now()),
  actorId: OPERATOR,
  impersonatorId: null,
  action,
  target,
  outcome: 'ok',
  ip: 'local',
  requestId: mint('request', systemClock.now()),
  data,
});
