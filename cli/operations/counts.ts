import type { Operation } from '../../src/client/index.js';
import { sizeText } from '../../src/kernel/sizetext.js';

export { sizeText };

export type ShownProgress = NonNullable<Operation['progress']>;

export const formatProgressCounts = ({ done, total, unit }: ShownProgress): string =>
  unit === 'bytes' ? formatSizes(done, total) : plainCounts(done, total, unit);

const formatSizes = (done: number, total: number | null): string =>
  `${sizeText(done)}${total === null ? '' : ` of ${sizeText(total)}`}`;

const plainCounts = (done: number, total: number | null, unit: string): string =>
  `${grouped(done)}${total === null ? '' : ` of ${grouped(total)}`} ${unit}`;

/** `1,204` in every locale. */
const grouped = (count: number): string => count.toLocaleString('en-US');
