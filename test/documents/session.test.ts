import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ExtractJob, ExtractLine } from '../../src/documents/extract/job.js';
import { openExtraction } from '../../src/documents/extract/session.js';
import { textExtractor } from '../../src/documents/extract/text.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MAX_PAGES = 3;

/** Opens an extraction; returns it with what is written and noted. */
const openPages = (fromPage = 1) => {
  const job: ExtractJob = {
    ...{ path: '/nowhere', mediaType: 'text/plain', languages: ['eng'], password: null, fromPage },
    limits: {
      ...{ pages: MAX_PAGES, ocrPages: 1, pixels: 1, pageChars: 20, ocrMs: 1, unpackedBytes: 1 },
      chars: 40,
    },
  };
  const lines: ExtractLine[] = [];
  const recognizer = { recognize: async () => ({ result: null, failure: null }) };
  const write = (line: ExtractLine) => void lines.push(line);
  const { extraction, notes } = openExtraction(job, { write, recognizer });
  const written = () => ({
    texts: lines.flatMap((line) => ('text' in line ? [line.text] : [])),
    notes: notes(),
  });
  return { extraction, written };
};

/** Extracts texts as pages; returns what is written and noted. */
const pagesOf = (texts: string[], fromPage = 1) => {
  const { extraction, written } = openPages(fromPage);
  for (const text of texts) if (!extraction.skip() && !extraction.add(text)) break;
  return written();
};

describe('the extraction of pages', () => {
  it('tells of pages that are left out, and only if there are some', () => {
    expect(pagesOf(['a', 'b', 'c'])).to.equal({ texts: ['a', 'b', 'c'], notes: [] });
    expect(pagesOf(['a', 'b', 'c', 'd'])).to.equal({
      texts: ['a', 'b', 'c'],
      notes: [`Only the first ${MAX_PAGES} pages were read.`],
    });
  });

  it('tells of a page whose end is left out', () => {
    expect(pagesOf(['a', 'b'.repeat(21)])).to.equal({
      texts: ['a', 'b'.repeat(20)],
      notes: ['Only the first 20 characters of page 2 were read.'],
    });
  });

  it('tells of several such pages in one sentence', () => {
    expect(pagesOf(['a'.repeat(21), 'b', 'c'.repeat(21)])).to.equal({
      texts: ['a'.repeat(20), 'b', 'c'.repeat(20)],
      notes: ['Only the first 20 characters of page 1 and 1 more were read.'],
    });
  });

  it('ends where the pages have too many characters together', () => {
    const [first, second] = ['a'.repeat(20), 'b'.repeat(20)];
    expect(pagesOf([first, second, 'c'])).to.equal({
      texts: [first, second],
      notes: ['Only the first 2 pages (40 characters) were read.'],
    });
  });

  it('cuts a long text without pages into some, at lines and within no character', async () => {
    const cut = async (text: string, fromPage = 1) => {
      const { extraction, written } = openPages(fromPage);
      await textExtractor('text/plain')(Buffer.from(text), extraction);
      return written();
    };
    const text = `${'a'.repeat(15)}\n${'b'.repeat(19)}🐈${'c'.repeat(3)}`;
    const texts = ['a'.repeat(15), 'b'.repeat(19), '🐈ccc'];
    expect(await cut(text)).to.equal({ texts, notes: [] });
    expect((await cut(text, 3)).texts).to.equal(['🐈ccc']);
    expect((await cut('a'.repeat(20))).texts).to.equal(['a'.repeat(20)]);
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
