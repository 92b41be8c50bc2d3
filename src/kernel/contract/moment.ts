/** In a query, `+` is decoded as a space. */
const MOMENT =
  /^((?:\d{4}|[+-]\d{6})-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d+))? ?(?:(Z)|([ +-]\d{2}):?(\d{2})?)?)?$/i;

/**
 * An ISO 8601 time as programs write it: with microseconds, or with an offset such as `+0200`. The
 * local time is in milliseconds as if UTC. `offset` is null if the text has none.
 */
export const parseIsoTime = (text: string): { wall: number; offset: number | null } | null => {
  const found = MOMENT.exec(text.trim());
  const [, day = '', time = '00:00', fraction = '', utc, hours, minutes = '00'] = found ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // A day such as February 30 would be read as March 2.
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  const seconds = time.length === 5 ? `${time}:00` : time;
  const wall = Date.parse(`${day}T${seconds}.${fraction.slice(0, 3) || '0'}Z`);
  if (!exists || Number.isNaN(wall)) return null;
  if (hours === undefined) return { wall, offset: utc === undefined ? null : 0 };
  const ahead = Date.parse(`1970-01-01T${hours.slice(1)}:${minutes}Z`);
  if (Number.isNaN(ahead)) return null;
  return { wall, offset: hours.startsWith('-') ? -ahead : ahead };
};

/** Milliseconds of an ISO 8601 time, in UTC if it has no offset. NaN for other text. */
export const parseMoment = (text: string): number => {
  const { wall, offset } = parseIsoTime(text) ?? { wall: Number.NaN, offset: null };
  return wall - (offset ?? 0);
};
