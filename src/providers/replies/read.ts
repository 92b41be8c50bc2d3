import { memberAt } from '../../kernel/jsonvalue.js';

/** The member as text if it is a text or a whole number of this form; otherwise null. */
export const formAt = (form: RegExp, body: unknown, ...path: string[]): string | null => {
  const value = memberAt(body, ...path);
  const isReadable = typeof value === 'string' || Number.isSafeInteger(value);
  return isReadable && form.test(String(value)) ? String(value) : null;
};

export const firstForm = (form: RegExp, body: unknown, paths: readonly string[]): string | null =>
  paths.reduce<string | null>(
    (found, path) => found ?? formAt(form, body, ...path.split('.')),
    null,
  );

export const NUMBER = /^[1-9]\d{0,17}$/;
/** A commit by SHA-1 or SHA-256. Zeros stand for a deleted branch. */
export const COMMIT = /^(?!0+$)(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
