import { leftInWords, since, timeOfEvent } from '../../tui/parts/times.js';
import { timeNow, useTime } from '../state/clock.js';

/** The age of a time, with the whole time for a pointer that rests on it. */
export const Ago = ({ at }: { at: string }) => {
  const now = useTime(15_000);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {since(at, now)} ago
    </time>
  );
};

/** The time that is left until another. */
export const Left = ({ until }: { until: string }) => {
  const now = useTime(1000);
  return (
    <time dateTime={until} title={new Date(until).toLocaleString()}>
      {leftInWords(until, now)}
    </time>
  );
};

/** A time in the reader's zone. */
export const Moment = ({ at }: { at: string }) => (
  <time dateTime={at}>
    {new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}
  </time>
);

/** The time of day of something, with the date if it is not today. It stays as it is. */
export const TimeOfDay = ({ at }: { at: string }) => (
  <time dateTime={at} title={new Date(at).toLocaleString()}>
    {timeOfEvent(at, timeNow())}
  </time>
);
