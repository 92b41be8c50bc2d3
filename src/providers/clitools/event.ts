import type { ModelFailureKind } from '../llm/model.js';

/** Returns the value at a path of parsed JSON; undefined if there is none. */
export const at = (of: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    of,
  );

export const textAt = (of: unknown, ...path: string[]): string | null => {
  const value = at(of, ...path);
  return typeof value === 'string' ? value : null;
};

/** Returns the value at a path if it is a finite number that is not negative. */
export const numberAt = (of: unknown, ...path: string[]): number | null => {
  const value = at(of, ...path);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
};

export const listAt = (of: unknown, ...path: string[]): unknown[] => {
  const value = at(of, ...path);
  return Array.isArray(value) ? value : [];
};

/** Returns the kind of a tool's failure from the HTTP status that it reports. */
export const kindOfStatus = (status: number | null): ModelFailureKind => {
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return 'credentials';
  if (status === 404) return 'unknown_model';
  if (status === 413) return 'context_length';
  return status !== null && status >= 400 && status < 500 ? 'bad_request' : 'server';
};

const WORDS: [RegExp, ModelFailureKind][] = [
  [/usage limit|rate limit|quota|\b429\b|resource.?exhausted/i, 'rate_limited'],
  [/not logged in|unauthori[sz]ed|authenticat|\b401\b|\b403\b|api key|log ?in/i, 'credentials'],
  [/context (window|length)|too long|too large/i, 'context_length'],
  [/model.{0,80}(not found|not supported|does not exist)|\b404\b/i, 'unknown_model'],
];

/**
 * Returns the kind of a failure for tools that report it in words only. The words are not stored,
 * since they may quote the prompt.
 */
export const kindOfWords = (said: string): ModelFailureKind =>
  WORDS.find(([words]) => words.test(said))?.[1] ?? 'server';
