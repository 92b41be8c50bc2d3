import type { RecurringTask } from '../../src/recurring/contract.js';
import { dayTime, isLocalClock, shortZone } from '../../tui/parts/zones.js';
import { useTime } from '../state/clock.js';
import { visibleText } from './json.js';

/** `enabled`, `disabled`, or `failing` after an error. */
export const getRecurringState = ({ enabled, lastStatus }: RecurringTask): string => {
  if (!enabled) return 'disabled';
  return lastStatus === 'error' ? 'failing' : 'enabled';
};

/** The schedule rule as entered. */
export const ruleText = ({ schedule: { cron, rrule } }: RecurringTask): string =>
  visibleText(cron ?? rrule ?? '');

/** Next due time on the clock of the schedule. The zone is named if it is not the reader's. */
export const NextRun = ({ task: { nextRunAt, schedule } }: { task: RecurringTask }) => {
  const now = useTime(30_000);
  if (nextRunAt === null) return <>never</>;
  const at = Date.parse(nextRunAt);
  const zone = isLocalClock(schedule.timezone, at) ? '' : ` ${shortZone(schedule.timezone, at)}`;
  return (
    <time dateTime={nextRunAt} title={new Date(nextRunAt).toLocaleString()}>
      {dayTime(nextRunAt, schedule.timezone, now)}
      {zone}
    </time>
  );
};
