import type { LogRing } from '../kernel/ring.js';
import type { Scheduler } from '../schedule/module.js';
import type { ExternalHeads } from '../store/externalheads.js';

export interface Daemon {
  recent: LogRing;
  /** Files outside the home that also receive the heads of the audit log. */
  heads: ExternalHeads;
  sockets: { stats(): { open: number; slow: number } };
  isDraining(): boolean;
  port(): number;
  /** Returns the sources that are late by more than the given milliseconds. */
  late: Scheduler['late'];
}
