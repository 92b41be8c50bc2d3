import { createRequire } from 'node:module';
import { isTimezone } from './clock.js';

type WindowsZones = typeof import('windows-iana');

/**
 * The time zone with a name of the IANA database, of Windows or of Outlook, or with a whole number
 * of hours from UTC. Null if there is none.
 */
export const parseTimezone = (name: string): string | null => {
  if (isTimezone(name)) return name;
  const windowsName = name.trim();
  return findWindowsZone(windowsName) ?? zoneOfOffset(windowsName) ?? zoneOfOutlook(windowsName);
};

/** Replaces a name of Windows. Unknown names stay unchanged. */
export const normalizeTimezone = (name: string): string => parseTimezone(name) ?? name;

const findWindowsZone = (name: string): string | null => {
  const { findIana }: WindowsZones = createRequire(import.meta.url)('windows-iana');
  const zones: string[] = findIana(name);
  return zones.find(isTimezone) ?? null;
};

/** `GMT+0100` or `UTC+01:00`. The names in the IANA database have the opposite sign. */
const zoneOfOffset = (name: string): string | null => {
  const [, sign, hours] = /^(?:UTC|GMT)([+-])0?(\d{1,2})(?:[:.]?00)?$/i.exec(name) ?? [];
  if (hours === undefined) return null;
  const zone = Number(hours) === 0 ? 'UTC' : `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`;
  return isTimezone(zone) ? zone : null;
};

const AREAS = [
  ...['Europe', 'America', 'Asia', 'Africa', 'Australia', 'Pacific', 'Atlantic', 'US', 'Canada'],
];

/**
 * `(UTC+01:00) Amsterdam, Berlin, Rome`: the first city with that offset, or a name of Windows
 * without `Standard`, as in `Eastern Time (US & Canada)`.
 */
const zoneOfOutlook = (name: string): string | null => {
  const [, offset = '', places] = /^\((?:UTC|GMT)([^)]{0,6})\) *(.+)$/i.exec(name) ?? [];
  if (places === undefined) return null;
  const named = /^([A-Z][A-Za-z ]{2,30}) Time(?: \(|$)/.exec(places)?.[1];
  const cities = places.split(/[,/]/).map((city) => city.trim().replace(/[. ]+/g, '_'));
  const zones = [
    ...(named === undefined ? [] : [findWindowsZone(`${named} Standard Time`)]),
    ...cities.flatMap((city) => AREAS.map((area) => `${area}/${city}`)),
  ];
  const minutes = minutesIn(offset);
  return (
    zones.find((zone) => zone && isTimezone(zone) && standardMinutes(zone) === minutes) ?? null
  );
};

const standardMinutes = (timeZone: string): number => {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const [january = 0, july = 0] = [0, 6].map((month) => {
    const parts = format.formatToParts(Date.UTC(2025, month, 1));
    return minutesIn(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '');
  });
  return Math.min(january, july);
};

const minutesIn = (offset: string): number => {
  const [, sign, hours, minutes] = /([+-])(\d\d)[:.]?(\d\d)$/.exec(offset) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
};
