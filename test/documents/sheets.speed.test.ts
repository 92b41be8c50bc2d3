import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ExtractFailed } from '../../src/documents/extract/job.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';
import { pagesOf } from './pages.js';
import { zip } from './zip.js';

export const lab = Lab.script();
const { describe, it } = lab;
const ODS = 'application/vnd.oasis.opendocument.spreadsheet';
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

/** A spreadsheet of these tables by their names. */
const spreadsheet = (sheets: Record<string, string>): Buffer => {
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
const row = (cells: string, attributes = ''): string =>
  `<table:table-row ${attributes}>${cells}</table:table-row>`;
const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
const columns = (count: number): string => `table:number-columns-repeated="${count}"`;
const rows = (count: number): string => `table:number-rows-repeated="${count}"`;

describe('the text of a spreadsheet of OpenDocument', () => {
  it('is refused or cut at once where cells or rows are repeated without end', async () => {
    const since = performance.now();
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
    expect(performance.now() - since).to.be.below(5000);
  });
});
