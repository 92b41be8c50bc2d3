import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loadExtractor } from '../../src/documents/extract/extractors.js';
import type { ExtractJob, ExtractLine } from '../../src/documents/extract/job.js';
import { detectMediaType } from '../../src/documents/extract/kinds.js';
import { openExtraction } from '../../src/documents/extract/session.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the kind of a file', () => {
  it('is that of a TIFF file wherever its directory stands', async () => {
    for (const [header, offset] of [
      [Buffer.from('II*\0'), Buffer.from([0, 0, 8, 0])],
      [Buffer.from('MM\0*'), Buffer.from([0, 8, 0, 0])],
    ] as const) {
      const file = Buffer.concat([header, offset, Buffer.alloc(600_000)]);
      for (const name of ['scan.tif', 'SCAN.TIFF']) {
        expect(await detectMediaType(file, name)).to.equal('image/tiff');
      }
      expect(await detectMediaType(file, 'scan.txt')).to.be.null();
    }
    expect(await detectMediaType(Buffer.alloc(600_000), 'scan.tif')).to.be.null();
  });
});

describe('the files of a message', () => {
  it('are read without a name too, by the kind that the message tells', async () => {
    const inner = 'Subject: Inner\r\nContent-Type: text/plain\r\n\r\nThe walrus sleeps.';
    const message = [
      'Subject: Outer',
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      '--b\r\nContent-Type: text/plain\r\n\r\nSee below.',
      `--b\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n${inner}`,
      '--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment\r\n\r\na,b\r\n1,2',
      '--b--\r\n',
    ].join('\r\n');
    const job: ExtractJob = {
      ...{ path: '', mediaType: 'message/rfc822', languages: ['eng'], fromPage: 1, password: null },
      limits: EXTRACT_LIMITS,
    };
    const lines: ExtractLine[] = [];
    const recognizer = { recognize: async () => ({ result: null, failure: null }) };
    const write = (line: ExtractLine) => void lines.push(line);
    const { extraction, notes } = openExtraction(job, { write, recognizer });
    const extract = await loadExtractor('message/rfc822');
    await extract(Buffer.from(message), extraction);
    const texts = lines.flatMap((line) => ('text' in line ? [line.text] : []));
    expect(texts).to.equal([
      '# Outer\nFiles: without a name.eml, without a name.csv\n\nSee below.',
      '# Inner\n\nThe walrus sleeps.',
      'a,b\n1,2',
    ]);
    expect(notes()).to.equal([]);
  });
});
