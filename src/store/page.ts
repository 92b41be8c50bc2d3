import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';

export interface PageInput {
  limit?: number;
  cursor?: string;
}

export interface Page<R> {
  rows: R[];
  nextCursor: string | null;
}

interface Selection<R> {
  where(column: 'id', operator: '<', value: string): Selection<R>;
  orderBy(column: 'id', direction: 'desc'): Selection<R>;
  limit(rows: number): Selection<R>;
  execute(): Promise<R[]>;
}

/** Newest first, below the cursor. IDs rise with time. */
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
