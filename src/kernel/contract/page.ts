import Joi from 'joi';
import {
  later,
  nullable,
  object,
  optional,
  queryWhole,
  type Schema,
  type Static,
  text,
} from './schema.js';

const paging = {
  limit: optional(queryWhole(1, 200).description('At most this many, 50 unless given')),
  cursor: optional(text(200).description('`nextCursor` of the page before')),
};

/** Returns the query schema of a list: `limit`, `cursor` and the filters given. */
export const pageQuery = <K extends Record<string, Schema>>(label: string, filters: K) =>
  object(label, { ...paging, ...filters });

/**
 * Returns the reply schema of a list: `{ <plural>: [...], nextCursor }`, newest first. `label` is
 * its name in the API document if two lists have the same plural.
 */
export const pageOf = <const P extends string, S extends Schema>(
  plural: P,
  item: S,
  label = `${plural[0]?.toUpperCase()}${plural.slice(1)}Page`,
) =>
  later(
    () =>
      Joi.object({
        [plural]: Joi.array().items(item).required(),
        nextCursor: nullable(text(200)).required(),
      }).label(label) as unknown as Joi.ObjectSchema<
        { [K in P]: Static<S>[] } & { nextCursor: string | null }
      >,
  );

export const DEFAULT_LIMIT = 50;

/**
 * Cuts rows to one page. The caller reads one row more than the limit, which shows if there is a
 * next page.
 */
export const cutPage = <T extends { id: string }>(rows: T[], limit: number) => ({
  rows: rows.slice(0, limit),
  nextCursor: rows.length > limit ? (rows[limit - 1]?.id ?? null) : null,
});
