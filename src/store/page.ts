import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';

/** The page of a list that a client asks for. Without a limit it has 50 rows. */
export interface PageInput {
  limit?: number;
  cursor?: string;
}

/** One page of rows; `nextCursor` is null on the last one. */
export interface Page<R> {
  rows: R[];
  nextCursor: string | null;
}

/** A select of rows with ids, before it is run. */
interface Selection<R> {
  where(column: 'id', operator: '<', value: string): Selection<R>;
  orderBy(column: 'id', direction: 'desc'): Selection<R>;
  limit(rows: number): Selection<R>;
  execute(): Promise<R[]>;
}

/** Returns one page of the query: the rows below the cursor, newest first. Ids rise with time. */
export const newestFirst = async <R extends { id: string }>(
  query: Selection<R>,
  { limit = DEFAULT_LIMIT, cursor }: PageInput,
): Promise<Page<R>> => {
  const below = cursor === undefined ? query : query.where('id', '<', cursor);
  const rows = await below
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return cutPage(rows, limit);
};
