import type { OperationPreview } from '../kernel/contract/operation.js';

/** The items of one lane that are due, or that are skipped for the same reason. */
export interface CountedItems {
  lane: string;
  name: string;
  /** Reason why the items are skipped; null if they are due. */
  reason: string | null;
  count: number;
  oldest: string;
  newest: string;
}

export const SHOWN_ITEMS = 20;
const MAX_ERROR_LENGTH = 1000;

/** The lane with the oldest item first. */
export const lanesIn = (counts: CountedItems[]): string[] => {
  const inOrder = [...counts].sort((a, b) => (a.oldest < b.oldest ? -1 : 1));
  return [...new Set(inOrder.map(({ lane }) => lane))];
};

export const buildOperationPreview = (
  counts: CountedItems[],
  { items, listedAt }: Pick<OperationPreview, 'items' | 'listedAt'>,
): OperationPreview => {
  const parts = lanesIn(counts).map((id) => {
    const own = counts.filter(({ lane }) => lane === id);
    return { id, name: own[0]?.name ?? '', ...sumCounts(own) };
  });
  const reasons: Record<string, number> = {};
  for (const { reason, count } of counts) {
    if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  const shown = items.map((item) => ({
    ...item,
    error: item.error?.slice(0, MAX_ERROR_LENGTH) ?? null,
  }));
  return { ...sumCounts(counts), listedAt, reasons, parts, items: shown };
};

/** The times are those of the due items. */
const sumCounts = (counts: CountedItems[]) => {
  const due = counts.filter(({ reason }) => reason === null);
  const count = due.reduce((sum, row) => sum + row.count, 0);
  const all = counts.reduce((sum, row) => sum + row.count, 0);
  return {
    count,
    skipped: all - count,
    oldest: due.map(({ oldest }) => oldest).sort()[0] ?? null,
    newest:
      due
        .map(({ newest }) => newest)
        .sort()
        .at(-1) ?? null,
  };
};
