import { expect } from '@hapi/code';
import { ExtractFailed } from '../../src/documents/extract/job.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';
import { pagesOf } from './pages.js';
import { zip } from './zip.js';

export const ODS = 'application/vnd.oasis.opendocument.spreadsheet';
export const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

/** A spreadsheet of these tables by their names. */
export const spreadsheet = (sheets: Record<string, string>): Buffer => {
  const tables = Object.entries(sheets).map(
    ([name, rows]) => `<table:table table:name="${name}">${rows}</table:table>`,
  );
  const body = `<office:body><office:spreadsheet>${tables.join('')}</office:spreadsheet></office:body>`;
  return zip([
    { name: 'mimetype', content: ODS },
    {
      name: 'content.xml',
      content: `${HEAD}<office:document-content>${body}</office:document-content>`,
    },
  ]);
};
export const row = (cells: string, attributes = ''): string =>
  `<table:table-row ${attributes}>${cells}</table:table-row>`;
export const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
export const columns = (count: number): string => `table:number-columns-repeated="${count}"`;
export const rows = (count: number): string => `table:number-rows-repeated="${count}"`;

/** Cells and rows that are repeated without end are refused, or cut. */
export const expectRepeatsLimited = async (): Promise<void> => {
  const wide = spreadsheet({ Only: row(cell('x', columns(100_000_000))) });
  await expect(pagesOf(ODS, wide)).to.reject(
    ExtractFailed,
    'Sheet "Only" has text in 100000000 columns. The maximum is 16384',
  );
  const high = spreadsheet({ Only: row(cell('x'), rows(100_000_000)) });
  await expect(pagesOf(ODS, high)).to.reject(
    ExtractFailed,
    'Sheet "Only" has text in 100000000 rows. The maximum is 1048576',
  );
  const both = spreadsheet({ Only: row(cell('xy', columns(16_384)), rows(1_048_576)) });
  const { texts, notes } = await pagesOf(ODS, both);
  expect(texts[0]?.length).to.equal(EXTRACT_LIMITS.pageChars);
  expect(notes).to.equal(['Only the first 1000000 characters of page 1 were read.']);
};
