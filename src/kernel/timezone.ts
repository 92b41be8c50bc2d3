import { createRequire } from 'node:module';
import { isTimezone } from './clock.js';

type WindowsZones = typeof import('windows-iana');

/** The time zone with a name of the IANA database or of Windows. Null if there is none. */
export const parseTimezone = (name: string): string | null => {
  if (isTimezone(name)) return name;
  const { findIana }: WindowsZones = createRequire(import.meta.url)('windows-iana');
  const windowsName: string = name.trim();
  return findIana(windowsName).find(isTimezone) ?? null;
};

/** Replaces a name of Windows. Unknown names stay unchanged. */
export const normalizeTimezone = (name: string): string => parseTimezone(name) ?? name;
