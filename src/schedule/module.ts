import type { Base } from '../base.js';
import { createScheduler, type Scheduler } from './scheduler.js';

export { noteOfCron } from './cronnote.js';
export {
  faultOfCron,
  faultOfRecurrence,
  nextOccurrence,
  nextTime,
  type Recurrence,
  zoneOfRule,
} from './occurrences.js';
export { type DueSource, type LateSource, type Scheduler, settleEach } from './scheduler.js';
export { createTimer } from './timer.js';

export const openSchedule = ({ store, clock, log }: Base): Scheduler =>
  createScheduler({ store, clock, log });
