import { valueAt } from './columns.js';
import type { RequestField } from './fields.js';

/** The fields of a list, which accepts several tags. */
export const listFields = (fields: RequestField[]): RequestField[] =>
  fields.map((field) =>
    field.path === 'tag'
      ? { ...field, kind: 'list', about: 'Tags, all of which the rows must have' }
      : field,
  );

/** The API filters by the first tag; `others` are filtered here. */
export const splitTags = (
  fields: Record<string, unknown>,
): { fields: Record<string, unknown>; others: unknown[] } => {
  const [tag, ...others] = [fields.tag].flat();
  return { fields: { ...fields, tag }, others };
};

export const hasTags = (row: object, tags: readonly unknown[]): boolean => {
  const own = [valueAt(row, 'tags')].flat();
  return tags.every((tag) => own.includes(tag));
};
