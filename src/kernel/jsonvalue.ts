import { isTextDeeper } from './depth.js';

const MAX_DEPTH = 1000;

/** Programs on Windows add a byte order mark. */
export const withoutMark = (text: string): string =>
  text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;

/**
 * Ignores a byte order mark (RFC 8259, section 8.1). Undefined if invalid or nested over 1,000
 * levels.
 */
export const parsedJson = (text: string): unknown => {
  if (isTextDeeper(text, MAX_DEPTH)) return undefined;
  try {
    return JSON.parse(withoutMark(text));
  } catch {
    return undefined;
  }
};

export const isJsonText = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const memberAt = (of: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    of,
  );

export const textAt = (of: unknown, ...path: string[]): string | null => {
  const value = memberAt(of, ...path);
  return typeof value === 'string' ? value : null;
};

export const numberAt = (of: unknown, ...path: string[]): number | null => {
  const value = memberAt(of, ...path);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
};

export const listAt = (of: unknown, ...path: string[]): unknown[] => {
  const value = memberAt(of, ...path);
  return Array.isArray(value) ? value : [];
};

/** Sorted keys, no white space (RFC 8785), so that equal values have equal texts. */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
};
