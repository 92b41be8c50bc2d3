import { row, type ScreenRow, tonedSpan } from './row.js';

/** The tabs of a page; brackets mark the current one without colour. */
export const tabsRow = (tabs: readonly string[], tab: number): ScreenRow =>
  row(
    ...tabs.flatMap((name, at) => [
      at === tab ? tonedSpan('strong', `[${name}]`) : name,
      at < tabs.length - 1 ? ' ' : '',
    ]),
  );
