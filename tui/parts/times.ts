const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Age in short: `4s`, `2m`, `9h`, `3d`; `never` for null. */
export const formatAge = (time: string | null, now: number): string => {
  if (time === null) return 'never';
  const ms = Math.max(0, now - Date.parse(time));
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`;
  return ms < DAY ? `${Math.floor(ms / HOUR)}h` : `${Math.floor(ms / DAY)}d`;
};

/** Remaining time, `08:34`; in days above two days. */
export const formatTimeLeft = (time: string, now: number): string => {
  const ms = Date.parse(time) - now;
  if (ms <= 0) return 'over';
  return ms > 2 * DAY ? `${Math.floor(ms / DAY)} days` : clock(ms);
};

/** Remaining time in words, rounded: `8 minutes`, `42 seconds`. */
export const timeLeftInWords = (time: string, now: number): string => {
  const ms = Date.parse(time) - now;
  if (ms <= 0) return 'over';
  if (ms > 2 * DAY) return `${Math.floor(ms / DAY)} days`;
  if (ms > 2 * HOUR) return `${Math.floor(ms / HOUR)} hours`;
  if (ms > 2 * MINUTE) return `${Math.floor(ms / MINUTE)} minutes`;
  return `${Math.floor(ms / SECOND)} seconds`;
};

/** `0:42` or `1:02:11`; in milliseconds below a second. */
export const durationText = (ms: number | null): string => {
  if (ms === null) return '';
  return ms < SECOND ? `${ms} ms` : clock(ms).replace(/^0(?=\d:)/, '');
};

/** `4d 02:11`. */
export const formatUptime = (seconds: number): string => {
  const days = Math.floor((seconds * SECOND) / DAY);
  if (days === 0) return clock(seconds * SECOND);
  const minutes = Math.floor(seconds / 60) % (24 * 60);
  return `${days}d ${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
};

/** Local time of day, `14:03:21`, with the date if it is not today. */
export const timeOfEvent = (time: string | number, now: number): string => {
  const date = new Date(time);
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (date.toDateString() === new Date(now).toDateString()) return text;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${text}`;
};

const clock = (ms: number): string => {
  const seconds = Math.floor(ms / SECOND);
  const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${minutes}` : minutes;
};
const two = (value: number): string => String(value).padStart(2, '0');
