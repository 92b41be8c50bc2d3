import { valueAt } from './columns.js';
import type { RequestField } from './fields.js';

/** The fields of a list; tags are several there, as where they are given to a thing. */
export const listFields = (fields: RequestField[]): RequestField[] =>
  fields.map((field) =>
    field.path === 'tag'
      ? { ...field, kind: 'list', about: 'Those that have all of these' }
      : field,
  );

/** Splits the tags that were typed: the API looks for the first, and `others` are left to us. */
export const splitTags = (
  fields: Record<string, unknown>,
): { fields: Record<string, unknown>; others: unknown[] } => {
  const [tag, ...others] = [fields.tag].flat();
  return { fields: { ...fields, tag }, others };
};

/** True if a row has each of the tags. */
export const hasTags = (row: object, tags: readonly unknown[]): boolean => {
  const own = [valueAt(row, 'tags')].flat();
  return tags.every((tag) => own.includes(tag));
};
