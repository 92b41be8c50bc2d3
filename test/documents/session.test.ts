import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ExtractJob, ExtractLine } from '../../src/documents/extract/job.js';
import { openExtraction } from '../../src/documents/extract/session.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MOST_PAGES = 3;

/** Extracts texts as pages; resolves to what is written and noted. */
const pagesOf = (texts: string[], fromPage = 1) => {
  const job: ExtractJob = {
    ...{ path: '/nowhere', mediaType: 'text/plain', languages: ['eng'], password: null, fromPage },
    limits: {
      ...{ pages: MOST_PAGES, ocrPages: 1, pixels: 1, pageChars: 20, ocrMs: 1, unpackedBytes: 1 },
    },
  };
  const lines: ExtractLine[] = [];
  const recognizer = { recognize: async () => ({ result: null, failure: null }) };
  const write = (line: ExtractLine) => void lines.push(line);
  const { extraction, notes } = openExtraction(job, { write, recognizer });
  for (const text of texts) if (!extraction.skip() && !extraction.add(text)) break;
  return { texts: lines.map((line) => ('text' in line ? line.text : null)), notes: notes() };
};

describe('the extraction of pages', () => {
  it('tells of pages that are left out, and only if there are some', () => {
    expect(pagesOf(['a', 'b', 'c'])).to.equal({ texts: ['a', 'b', 'c'], notes: [] });
    expect(pagesOf(['a', 'b', 'c', 'd'])).to.equal({
      texts: ['a', 'b', 'c'],
      notes: [`Only the first ${MOST_PAGES} pages were read.`],
    });
  });

  it('writes no page again that was extracted earlier', () => {
    expect(pagesOf(['a', 'b', 'c'], 3).texts).to.equal(['c']);
  });

  it('keeps lines as they are, whatever ends them, and no control characters', () => {
    expect(pagesOf(['a\r\nb\rc\nd', '\u0000x\u001b[1m\ty ']).texts).to.equal([
      'a\nb\nc\nd',
      'x[1m\ty',
    ]);
  });
});
