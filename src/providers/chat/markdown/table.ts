import { computeTextWidth } from '../../../kernel/width.js';

type Side = 'left' | 'right' | 'center';

export interface TableCell {
  text: string;
  side: Side;
}

/** Limits padding, so that one long cell does not widen all rows. */
const MAX_COLUMN = 40;
/** The first row is the header. */
export const tableText = (rows: readonly TableCell[][]): string[] => {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, { text }] of row.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, Math.min(MAX_COLUMN, computeTextWidth(text)));
    }
  }
  const [head = [], ...others] = rows.map((row) => rowText(row, widths));
  const rule = widths.map((width) => '─'.repeat(width)).join('─┼─');
  return [head, rule, ...others].map((line) => String(line).trimEnd());
};

const rowText = (row: TableCell[], widths: number[]): string =>
  row.map((cell, at) => paddedCell(cell, widths[at] ?? 0)).join(' │ ');

const paddedCell = ({ text, side }: TableCell, width: number): string => {
  const room = Math.max(0, width - computeTextWidth(text));
  const before = side === 'left' ? 0 : side === 'right' ? room : Math.floor(room / 2);
  return ' '.repeat(before) + text + ' '.repeat(room - before);
};
