import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { ExtractJob, ExtractLine } from '../../src/documents/extract/job.js';
import { extractPdf } from '../../src/documents/extract/pdf.js';
import { openExtraction } from '../../src/documents/extract/session.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { type UploadedFile, upload } from '../harness/upload.js';
import { gifOfLyingFrame, nestedMessages, packedRepeats, pdfOf, pngOfSize } from './bombs.js';
import { tiffOf, tiledTiff } from './tiff.js';
import { book, type ZipFile, zip } from './zip.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const OVER = ['completed', 'failed', 'cancelled'];

const OOXML = 'http://schemas.openxmlformats.org';
/** The files of an office document whose main part is the given one. */
const office = (kind: string, part: ZipFile): Buffer =>
  zip([
    {
      name: '[Content_Types].xml',
      content: `<Types xmlns="${OOXML}/package/2006/content-types"><Override PartName="/${part.name}" ContentType="application/vnd.openxmlformats-officedocument.${kind}.main+xml"/></Types>`,
    },
    part,
  ]);
const repeated = {
  text: (bytes: number) =>
    packedRepeats('<w:document><w:body>', '<w:p><w:r><w:t>bomb</w:t></w:r></w:p>', bytes),
  sheet: (bytes: number) =>
    packedRepeats('<worksheet><sheetData>', '<row><c><v>1</v></c></row>', bytes),
  chapter: (bytes: number) => packedRepeats('<html><body>', '<p>bomb</p>', bytes),
};

describe('a hostile file', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
  });
  after(() => app?.stop());

  const read = async (file: UploadedFile) => {
    const { body } = await upload(app, token, [file]);
    const path = `/api/documents/${body.documents[0]?.id}`;
    return until(
      async () => (await app.call('GET', path, { token })).body,
      ({ status }) => OVER.includes(status),
      90_000,
    );
  };
  /** Reads the file, and a harmless one after it; resolves to how the first one ended. */
  const endOf = async (name: string, content: string | Uint8Array) => {
    const { status, code, error, ocrText, pages } = await read({ name, content });
    const next = await read({ name: `after ${name}.txt`, content: `read after ${name}` });
    expect([next.status, next.ocrText]).to.equal(['completed', `read after ${name}`]);
    return { status, code, error, ocrText, pages };
  };

  it('that becomes too large unpacked is refused before it is unpacked', async () => {
    const packed = await repeated.text(GIB);
    const part = 'word/document.xml';
    const large = { status: 'failed', code: 'too_large', ocrText: '', pages: null };
    expect(
      await endOf(
        'gib.docx',
        office('wordprocessingml.document', { name: part, packed, bytes: GIB }),
      ),
    ).to.equal({
      ...large,
      error: 'The unpacked file is too large. Reduce or split the file and save it again',
    });
    const chapter = { name: 'one.xhtml', packed: await repeated.chapter(GIB), bytes: GIB };
    expect(await endOf('gib.epub', book([chapter]))).to.equal({
      ...large,
      error: 'The unpacked file is too large. Reduce or split the file and save it again',
    });
  });

  it('that repeats itself as no real one does is refused by that', async () => {
    const bytes = 60 * MIB;
    const files: [name: string, content: Buffer][] = [
      [
        'text.docx',
        office('wordprocessingml.document', {
          ...{ name: 'word/document.xml', packed: await repeated.text(bytes), bytes },
        }),
      ],
      [
        'sheet.xlsx',
        office('spreadsheetml.sheet', {
          ...{ name: 'xl/worksheets/sheet1.xml', packed: await repeated.sheet(bytes), bytes },
        }),
      ],
      ['book.epub', book([{ name: 'one.xhtml', packed: await repeated.chapter(bytes), bytes }])],
    ];
    for (const [name, content] of files) {
      const end = await endOf(name, content);
      expect(end, name).to.include({ status: 'failed', code: 'too_large', ocrText: '' });
      expect(end.error, name).to.match(
        /^[\w/]+\.x(ht)?ml in the archive is compressed \d{3,4}:1\. The maximum is 200:1\. Reduce or split the file and save it again$/,
      );
    }
  });

  it('that lies about its sizes is refused with the name of what lies', async () => {
    const packed = await repeated.text(GIB);
    const name = 'word/document.xml';
    const lie = office('wordprocessingml.document', { name, packed, bytes: 1000 });
    const end = await endOf('lie.docx', lie);
    expect(end).to.include({ status: 'failed', code: 'damaged', ocrText: '' });
    expect(end.error).to.match(
      /^[\w/]+\.x(ht)?ml in the archive cannot be unpacked: too many bytes/,
    );
  });

  it('that is a picture of 60,000 × 60,000 pixels is refused unopened', async () => {
    const { pixels } = EXTRACT_LIMITS;
    expect(await endOf('large.png', pngOfSize(60_000, 60_000, 1000))).to.equal({
      ...{ status: 'failed', code: 'too_large', ocrText: '', pages: null },
      error: `The image has 60000 × 60000 pixels. The maximum is ${pixels} pixels. Reduce or split the file and save it again`,
    });
    expect(await endOf('frame.gif', gifOfLyingFrame())).to.include({
      ...{ status: 'failed', code: 'damaged', ocrText: '' },
      error: 'The file cannot be read: Unsupported image type. Use an intact copy of the file',
    });
    // More pixels than the size that is told: the rest is not read.
    expect(await endOf('small.png', pngOfSize(64, 64, 256 * MIB))).to.include({
      ...{ status: 'completed', error: 'Page 1 has no readable text.', ocrText: '' },
    });
  });

  it('that is a TIFF whose pages lie is refused, or is read but for the page', async () => {
    const small = { width: 8, height: 8 };
    const circle = tiffOf([
      { ...small, next: 1 },
      { ...small, next: 0 },
    ]);
    expect(await endOf('circle.tiff', circle)).to.equal({
      ...{ status: 'failed', code: 'damaged', ocrText: '', pages: null },
      error: 'The page directories of the file form a cycle. Use an intact copy of the file',
    });
    const values = tiffOf([{ ...small, next: null }]);
    values.writeUInt32LE(0xffffffff, 8 + 2 + 4);
    expect(await endOf('values.tiff', values)).to.include({
      ...{ status: 'failed', code: 'damaged' },
      error:
        'A page directory has more values than the file has bytes. Use an intact copy of the file',
    });
    const large = tiffOf([
      { width: 60_000, height: 60_000, next: 1 },
      { ...small, next: null },
    ]);
    expect(await endOf('large.tiff', large)).to.equal({
      ...{ status: 'completed', code: null, ocrText: '\n\n', pages: 2 },
      error: 'Page 2 has no readable text. Page 1 is too large: 60000 × 60000 pixels.',
    });
  });

  it('that is a TIFF whose directories name each other twice is refused at once', async () => {
    const levels = 44;
    const bytes = Buffer.alloc(8 + levels * 30);
    bytes.write('II*\0\x08\0\0\0', 'latin1');
    for (let level = 0; level < levels - 1; level++) {
      const at = 8 + level * 30;
      bytes.writeUInt16LE(2, at);
      for (const [entry, tag] of [34665, 34853].entries()) {
        bytes.writeUInt16LE(tag, at + 2 + entry * 12);
        bytes.writeUInt16LE(4, at + 4 + entry * 12);
        bytes.writeUInt32LE(1, at + 6 + entry * 12);
        bytes.writeUInt32LE(at + 30, at + 10 + entry * 12);
      }
    }
    expect(await endOf('graph.tiff', bytes)).to.include({
      ...{ status: 'failed', code: 'damaged' },
      error: 'The page directories of the file form a cycle. Use an intact copy of the file',
    });
  });

  it('is not a TIFF whose last page names a place beyond its end', async () => {
    const content = tiffOf([{ width: 8, height: 8, next: null }]);
    content.writeUInt32LE(0x7fffffff, 8 + 2 + content.readUInt16LE(8) * 12);
    expect(await endOf('beyond.tiff', content)).to.include({ status: 'completed', pages: 1 });
  });

  it('is not a TIFF that is stored in tiles, whose decoder speaks of them', async () => {
    expect(await endOf('tiles.tiff', tiledTiff())).to.equal({
      ...{ status: 'completed', code: null, ocrText: '', pages: 1 },
      error: 'Page 1 has no readable text.',
    });
  });

  it('that is a PDF with programs in it is read, and none runs', async () => {
    const script = 'app.alert\\(1\\); app.launchURL\\("http://127.0.0.1:9/"\\);';
    const action = `<</S/JavaScript/JS(${script})>>`;
    const content = pdfOf(1, {
      root: `/OpenAction${action}/Names<</JavaScript<</Names[(a)${action}]>>>>`,
      page: '/AA<</O<</S/Launch/F(/bin/sh)>>>>',
    });
    expect(await endOf('program.pdf', content)).to.equal({
      ...{ status: 'completed', code: null, error: null, pages: 1 },
      ocrText: 'Page number 1 of the book',
    });
  });

  it('that holds a message in a message, a thousand deep, is read for its first ones', async () => {
    const end = await endOf('deep.eml', nestedMessages(1000));
    expect(end).to.include({ status: 'completed', pages: 3 });
    expect(end.error).to.equal(
      'The attachment m3.eml could not be read: The e-mail is nested too deeply. Upload the nested e-mails separately.',
    );
    const boundaries = Array.from(
      { length: 1000 },
      (_, at) => `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`,
    );
    const parts = `Subject: x\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n${boundaries.join('')}`;
    const refused = await endOf('parts.eml', parts);
    expect(refused).to.include({ status: 'failed', code: 'damaged' });
    expect(refused.error).to.match(/nesting depth/);
  });

  it('whose names lead out of its folder reads nothing there', async () => {
    const chapter = { name: 'one.xhtml', content: '<html><body><p>The chapter</p></body></html>' };
    const archive = await endOf(
      'out.epub',
      book([chapter, { name: '../../escape.xhtml', content: '<p>escaped' }]),
    );
    expect(archive).to.include({ status: 'failed', code: 'damaged', ocrText: '' });
    expect(archive.error).to.match(/invalid relative path: OEBPS\/\.\.\/\.\.\/escape\.xhtml/);
    const message =
      'Subject: t\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n' +
      'Content-Disposition: attachment; filename="../../etc/motd.txt"\r\n\r\nthe words\r\n--b--\r\n';
    const mail = await endOf('../../out.eml', message);
    expect(mail).to.include({ status: 'completed', error: null });
    expect(mail.ocrText).to.match(/\nthe words$/);
  });
});

describe('a PDF of 10,000 pages', () => {
  it('is read up to the limit, and says what is missing', async () => {
    const pages = 50;
    const job: ExtractJob = {
      ...{ path: '', mediaType: 'application/pdf', languages: ['eng'], fromPage: 1 },
      ...{ password: null, limits: { ...EXTRACT_LIMITS, pages } },
    };
    const lines: ExtractLine[] = [];
    const recognizer = { recognize: async () => ({ result: null, failure: null }) };
    const write = (line: ExtractLine) => void lines.push(line);
    const { extraction, notes } = openExtraction(job, { write, recognizer });
    await extractPdf(pdfOf(10_000), extraction);
    const texts = lines.flatMap((line) => ('text' in line ? [line.text] : []));
    expect(texts).to.equal(
      Array.from({ length: pages }, (_, at) => `Page number ${at + 1} of the book`),
    );
    expect(lines[0]).to.equal({ pages });
    expect(notes()).to.equal([`Only the first ${pages} pages were read.`]);
  });
});
