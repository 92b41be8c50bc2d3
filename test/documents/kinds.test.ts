import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loadExtractor } from '../../src/documents/extract/extractors.js';
import type { ExtractJob, ExtractLine } from '../../src/documents/extract/job.js';
import { detectMediaType } from '../../src/documents/extract/kinds.js';
import { openExtraction } from '../../src/documents/extract/session.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';
import { pdfOf } from '../harness/pdf.js';
import { pagesOf } from './pages.js';
import { zip } from './zip.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MAIL = 'message/rfc822';

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

  it('is that of a PDF file up to 1024 bytes after its beginning', async () => {
    const after = (bytes: number): Buffer =>
      Buffer.concat([Buffer.from('\x1b%-12345X@PJL\r\n\0'.padEnd(bytes)), pdfOf('a line')]);
    expect(await detectMediaType(after(1024), 'scan.pdf')).to.equal('application/pdf');
    expect(await detectMediaType(after(1025), 'scan.pdf')).to.be.null();
    const { texts } = await pagesOf('application/pdf', after(1024));
    expect(texts).to.equal(['a line']);
    const archive = zip([{ name: 'a.pdf', content: pdfOf('a line') }]);
    expect(await detectMediaType(archive, 'a.pdf')).to.be.null();
  });

  it('is that of the plain document if it is a template, a slide show or has macros', async () => {
    const office = 'application/vnd.openxmlformats-officedocument';
    const open = 'application/vnd.oasis.opendocument';
    const cases: [name: string, inside: string, type: string][] = [
      [
        'a.docm',
        'vnd.ms-word.document.macroEnabled.main+xml',
        `${office}.wordprocessingml.document`,
      ],
      ['a.xlsm', 'vnd.ms-excel.sheet.macroEnabled.main+xml', `${office}.spreadsheetml.sheet`],
      [
        'a.ppsx',
        `${office.slice(12)}.presentationml.slideshow.main+xml`,
        `${office}.presentationml.presentation`,
      ],
      [
        'a.dotx',
        `${office.slice(12)}.wordprocessingml.template.main+xml`,
        `${office}.wordprocessingml.document`,
      ],
    ];
    for (const [name, inside, type] of cases) {
      const content = `<Types><Override PartName="/x.xml" ContentType="application/${inside}"/></Types>`;
      const file = zip([{ name: '[Content_Types].xml', content }]);
      expect(await detectMediaType(file, name), name).to.equal(type);
    }
    for (const [name, kind] of [
      ['a.ott', 'text'],
      ['a.ots', 'spreadsheet'],
    ]) {
      const file = zip([{ name: 'mimetype', content: `${open}.${kind}-template` }]);
      expect(await detectMediaType(file, name ?? ''), name).to.equal(`${open}.${kind}`);
    }
  });

  it('is that of the text which a web application saves under another name', async () => {
    const cases: [text: string, names: string[], type: string | null][] = [
      ['\ufeff<!DOCTYPE html><p>a', ['a.pdf', 'a.xls', 'a.docx', 'a', 'a.aspx'], 'text/html'],
      ['<?xml version="1.0"?><!-- a --> <html xmlns="x">', ['a.doc'], 'text/html'],
      ['<meta charset="utf-8"><table><tr><td>1', ['a.xls', 'a.xlsx'], 'text/html'],
      ['Date: today\r\nSubject: a\r\n b\r\nMIME-Version: 1.0\r\n\r\n', ['a.doc'], MAIL],
      ['id\tname\n1\tAda\n', ['a.xls', 'a.xlsx'], 'text/csv'],
      ['id\tname\n1\tAda\n', ['a.pdf', 'a.png', 'a.exe'], null],
      ['<style>p {}</style>', ['a.vue', 'a'], null],
      [`${'<!---->'.repeat(5000)}x`, ['a.xls'], null],
      [`${'a: b\r\n'.repeat(5000)}x`, ['a.doc'], null],
    ];
    for (const [text, names, type] of cases) {
      for (const name of names) {
        const about = `${name}: ${text.slice(0, 40)}`;
        expect(await detectMediaType(Buffer.from(text), name), about).to.equal(type);
      }
    }
    const wide = Buffer.from('\ufeff<html><p>a', 'utf16le');
    expect(await detectMediaType(wide, 'a.xls')).to.equal('text/html');
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
