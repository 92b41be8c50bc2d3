import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ExtractFailed } from '../../src/documents/extract/job.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';
import { pagesOf } from './pages.js';
import { cell, columns, ODS, row, rows, spreadsheet } from './spreadsheet.js';

export const lab = Lab.script();
const { describe, it } = lab;

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
