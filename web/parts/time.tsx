import { formatAge, timeLeftInWords, timeOfEvent } from '../../tui/parts/times.js';
import { timeNow, useTime } from '../state/clock.js';

/** Age, with the full time as a tooltip. */
export const Ago = ({ at }: { at: string }) => {
  const now = useTime(15_000);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {formatAge(at, now)} ago
    </time>
  );
};

export const Left = ({ until }: { until: string }) => {
  const now = useTime(1000);
  return (
    <time dateTime={until} title={new Date(until).toLocaleString()}>
      {timeLeftInWords(until, now)}
    </time>
  );
};

export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at}>
    {new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}
  </time>
);

/** Time of day, with the date if it is not today. Does not update. */
export const TimeOfDay = ({ at }: { at: string }) => (
  <time dateTime={at} title={new Date(at).toLocaleString()}>
    {timeOfEvent(at, timeNow())}
  </time>
);
