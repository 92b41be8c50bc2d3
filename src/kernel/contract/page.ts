import Joi from 'joi';
import * as s from './schema.js';

const paging = {
  limit: s.optional(
    s.queryWhole(1, 200).description('Maximum number of items to return. Defaults to 50'),
  ),
  cursor: s.optional(
    s
      .text(200)
      .description('Value of `nextCursor` in the previous page. Omit `cursor` for the first page'),
  ),
};

export const pageQuery = <K extends Record<string, s.Schema>>(label: string, filters: K) =>
  s.object(label, { ...paging, ...filters });

/** `label` is needed if two lists have the same plural. */
export const createPageSchema = <const P extends string, S extends s.Schema>(
  plural: P,
  item: S,
  label = `${plural[0]?.toUpperCase()}${plural.slice(1)}Page`,
) =>
  s.lazy(
    () =>
      Joi.object({
        [plural]: Joi.array().items(item).required(),
        nextCursor: s
          .nullable(s.text(200))
          .description('Value of `cursor` for the next page. `null` on the last page')
          .required(),
      }).label(label) as unknown as Joi.ObjectSchema<
        { [K in P]: s.Static<S>[] } & { nextCursor: string | null }
      >,
  );

export const DEFAULT_LIMIT = 50;

/** The caller reads one row more than the limit, which shows whether there is a next page. */
export const cutPage = <T extends { id: string }>(rows: T[], limit: number) => ({
  rows: rows.slice(0, limit),
  nextCursor: rows.length > limit ? (rows[limit - 1]?.id ?? null) : null,
});
