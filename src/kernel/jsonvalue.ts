import { isTextDeeper } from './depth.js';

/** Ours: nothing that is exchanged is nested so deep. */
const DEEPEST = 1000;

/** Returns a text without the byte order mark that programs on Windows put before it. */
export const withoutMark = (text: string): string =>
  text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;

/**
 * Parses JSON, without a byte order mark before it (RFC 8259, section 8.1). Returns undefined if the
 * text is not JSON, or is nested over 1,000 deep.
 */
export const parsedJson = (text: string): unknown => {
  if (isTextDeeper(text, DEEPEST)) return undefined;
  try {
    return JSON.parse(withoutMark(text));
  } catch {
    return undefined;
  }
};

/** True for an object that is not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value at a path of parsed JSON; undefined if there is none. Only own keys count. */
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

/** Returns the value at a path if it is a finite number that is not negative. */
export const numberAt = (of: unknown, ...path: string[]): number | null => {
  const value = memberAt(of, ...path);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
};

export const listAt = (of: unknown, ...path: string[]): unknown[] => {
  const value = memberAt(of, ...path);
  return Array.isArray(value) ? value : [];
};

/**
 * Returns JSON with sorted keys and no white space (RFC 8785), so that equal values give equal
 * texts.
 */
export const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
};
