import { row, type ScreenRow, tonedSpan } from './row.js';

/**
 * Returns the tabs of a page. Brackets mark the current one, so that it is recognizable without
 * colour.
 */
export const tabsRow = (tabs: readonly string[], tab: number): ScreenRow =>
  row(
    ...tabs.flatMap((name, at) => [
      at === tab ? tonedSpan('strong', `[${name}]`) : name,
      at < tabs.length - 1 ? ' ' : '',
    ]),
  );
