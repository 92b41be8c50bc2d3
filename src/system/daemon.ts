import type { LogRing } from '../kernel/ring.js';
import type { Scheduler } from '../schedule/module.js';
import type { OutsideHeads } from '../store/externalheads.js';

/** The process and its server. */
export interface Daemon {
  /** The newest lines of the log. */
  recent: LogRing;
  /** The files outside the home that also receive the heads of the audit log. */
  heads: OutsideHeads;
  sockets: { stats(): { open: number; slow: number } };
  isDraining(): boolean;
  /** Returns the port that it listens on. */
  port(): number;
  /** Returns the work whose due time passed so many milliseconds ago. */
  late: Scheduler['late'];
}
