import { type Clock, iso } from '../kernel/clock.js';
import * as s from '../kernel/contract/schema.js';
import { parseTimezone } from '../kernel/timezone.js';
import { defineTool, HARMLESS, type ToolGroup } from './tool.js';

const ZONE = 'a time zone of the IANA database, such as Europe/Berlin';

const input = s.object('TimeNowInput', {
  timezone: s.optional(
    s
      .text(64)
      .custom(
        (value: string, helpers) =>
          parseTimezone(value) ?? helpers.message({ custom: `must be ${ZONE}` }),
      )
      .description('IANA time zone, such as Europe/Berlin. Defaults to UTC.'),
  ),
});

export const timeTools = (clock: Clock): ToolGroup => ({
  skillId: 'time',
  description: 'Date and time',
  tools: [
    defineTool({
      skillId: 'time',
      name: 'now',
      description:
        'Get the current date and time. Returns { iso (UTC), timezone, local (with offset), weekday }.',
      input,
      ...HARMLESS,
      isStateless: true,
      run: async ({ timezone = 'UTC' }) => {
        const now = clock.now();
        return { iso: iso(now), timezone, ...localTime(now, timezone) };
      },
    }),
  ],
});

/** `local` is ISO 8601 with the offset of the zone. */
const localTime = (ms: number, timeZone: string): { local: string; weekday: string } => {
  const parts = new Map(
    getDateFormat(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const [year, month, day] = [parts.get('year'), parts.get('month'), parts.get('day')];
  const [hour, minute, second] = [parts.get('hour'), parts.get('minute'), parts.get('second')];
  const offset = parts.get('timeZoneName')?.slice('GMT'.length) || '+00:00';
  return {
    local: `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`,
    weekday: parts.get('weekday') ?? '',
  };
};

/** Number of cached formats. Creating one takes as long as ten uses. */
const MAX_FORMATS = 64;
const formats = new Map<string, Intl.DateTimeFormat>();

const getDateFormat = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  });
  if (formats.size >= MAX_FORMATS) formats.delete(formats.keys().next().value ?? '');
  formats.set(timeZone, format);
  return format;
};
