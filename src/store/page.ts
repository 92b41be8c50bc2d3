import { cutPage } from '../kernel/contract/page.js';

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
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<{ rows: R[]; nextCursor: string | null }> => {
  const below = cursor === undefined ? query : query.where('id', '<', cursor);
  const rows = await below
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return cutPage(rows, limit);
};
