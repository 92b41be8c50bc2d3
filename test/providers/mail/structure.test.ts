import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { arrivalTime, parseMailHeader } from '../../../src/email/messages/record.js';
import {
  collectMailParts,
  decodedPart,
  estimateDecodedSize,
} from '../../../src/providers/mail/structure.js';
import { decoded } from './decodedparts.js';

export const lab = Lab.script();
const { describe, it } = lab;

const nameIn = (filename: string): string | undefined =>
  collectMailParts({
    type: 'application/pdf',
    disposition: 'attachment',
    dispositionParameters: { filename },
  }).files[0]?.name;

describe('the structure of a message', () => {
  it('has names of files that can be sent in a header', () => {
    const name = nameIn(`${'a'.repeat(199)}\u{1f600}.pdf`);
    expect(name).to.equal(`${'a'.repeat(199)}_`);
    expect(nameIn('a\r\nb\u202e/\ud83d.pdf')).to.equal('a__b___.pdf');
    expect(nameIn('   ')).to.equal('unnamed');
    const names = ['.bashrc', '..', '-rf', '../../.terms & cond.txt', 'Bill 1/2.pdf', 'C:\\x '];
    expect(names.map(nameIn)).to.equal([
      ...['bashrc', 'unnamed', 'rf', 'terms & cond.txt', 'Bill 1_2.pdf', 'C:_x'],
    ]);
  });

  it('counts the parts that it does not list', () => {
    const file = { type: 'application/pdf' };
    const of = (...childNodes: object[]) => ({ type: 'multipart/mixed', childNodes });
    const omitted = (structure: object): number =>
      collectMailParts(Object.assign({ type: '' }, structure)).omitted;
    expect(omitted(of(...Array(200).fill(file)))).to.equal(0);
    expect(omitted(of(...Array(203).fill(file)))).to.equal(3);
    const within = (levels: number, ...parts: object[]): object =>
      levels === 1 ? of(...parts) : of(within(levels - 1, ...parts));
    expect(omitted(within(50, file, file))).to.equal(0);
    expect(omitted(within(51, file, of(file, file)))).to.equal(3);
    let deep = of();
    for (let n = 0; n < 100_000; n++) deep = of(deep);
    expect(omitted(deep)).to.equal(1);
  });

  it('has media types that change no direction', () => {
    const [file] = collectMailParts({ type: 'application/\u202efdp' }).files;
    expect(file?.mediaType).to.equal('application/_fdp');
  });

  it('has sizes of files as they are saved, but for the padding', () => {
    for (const length of [0, 1, 11, 57, 58, 114, 397, 5000, 100_000]) {
      const lines =
        Buffer.alloc(length)
          .toString('base64')
          .match(/.{1,76}/g) ?? [];
      for (const encoded of [lines.join('\r\n'), lines.map((line) => `${line}\r\n`).join('')]) {
        const bytes = estimateDecodedSize({ encoding: 'base64', bytes: encoded.length });
        expect(bytes - length, `${length}`).to.be.between(-1, 3);
      }
    }
    expect(estimateDecodedSize({ encoding: '7bit', bytes: 544 })).to.equal(544);
  });

  it('has text without what its encoding has added', () => {
    const part = { part: '1', encoding: 'quoted-printable', charset: 'utf-8', bytes: 1 };
    const decode = (text: string): string => decodedPart(Buffer.from(text), part);
    expect(decode('a \t\r\nb=20 \r\nc= \r\nd=C3=BC=\r\n=3D=zz \t')).to.equal(
      'a\nb \ncd\u00fc==zz \t',
    );
    expect(decode(' \r\n\t\nx')).to.equal('\n\nx');
  });

  it('has the text that was meant, whatever the label of its charset', () => {
    const decode = (bytes: Buffer, charset: string): string =>
      decodedPart(bytes, { part: '1', encoding: '8bit', charset, bytes: 1 });
    const windows = Buffer.from([0x93, 0x63, 0x61, 0x66, 0xe9, 0x94, 0x20, 0x80, 0x35]);
    for (const charset of [
      ...['us-ascii', 'utf-8', 'UTF8', 'iso-8859-1', 'ISO_8859-1:1987', 'latin-1', 'cp-1252'],
      ...['Windows1252', 'win-1252', 'x-unknown', 'unknown-8bit', '', ' utf-8 '],
    ]) {
      expect(decode(windows, charset), charset).to.equal('“café” €5');
    }
    const utf8 = Buffer.from('“café” €5');
    for (const charset of ['us-ascii', 'ANSI_X3.4-1968', 'utf8mb4', 'x-unknown', 'utf-16']) {
      expect(decode(charset === 'utf-16' ? Buffer.from('plain') : utf8, charset), charset).to.equal(
        charset === 'utf-16' ? 'plain' : '“café” €5',
      );
    }
    expect(decode(utf8, 'iso-8859-1')).to.equal('â€œcafÃ©â€\x9d â‚¬5');
    expect(decode(Buffer.from('\ufffda'), 'us-ascii')).to.equal('\ufffda');
    expect(decode(Buffer.from('日本語のメール').subarray(0, -1), 'utf-8')).to.equal(
      '日本語のメー\ufffd',
    );
    const others: [charset: string, hex: string, text: string][] = [
      ['cp-1251', 'cfe0eaf2', 'Пакт'],
      ['koi8r', 'f0c1cbd4', 'Пакт'],
      ['cp932', '93fa967b', '日本'],
      ['cp936', 'd6d0b9fa', '中国'],
      ['ks_c_5601-1987', 'c7d1b1db', '한글'],
      ['cp950', 'a4a4b0ea', '中國'],
      ['iso8859-15', 'a435', '€5'],
    ];
    for (const [charset, hex, text] of others) {
      expect(decode(Buffer.from(hex, 'hex'), charset), charset).to.equal(text);
    }
  });

  it('has whole paragraphs, also quoted ones, if its lines are flowed', () => {
    const decode = (text: string, parameters: Record<string, string>): string => {
      const structure = { type: 'text/plain', parameters: { charset: 'utf-8', ...parameters } };
      const { text: part } = collectMailParts(structure);
      return part ? decodedPart(Buffer.from(text.replaceAll('\n', '\r\n')), part) : '';
    };
    const text = [
      ...['On Monday: ', '> The roof ', '> costs nine ', '> thousand.', '>> Said ', '>> who?'],
      ...['> ', '> Me.', 'Thanks, ', 'and  ', 'bye.', ' From here', ' >no quote', '', '-- ', 'Ada'],
    ].join('\n');
    const joined = [
      ...['On Monday: ', '> The roof costs nine thousand.', '>> Said who?', '> ', '> Me.'],
      ...['Thanks, and  bye.', 'From here', '>no quote', '', '-- ', 'Ada'],
    ];
    expect(decode(text, { format: 'flowed' })).to.equal(joined.join('\n'));
    expect(decode(text, {})).to.equal(text);
    expect(decode('日本 \n語\n> 日 \n> 本', { format: 'Flowed', delsp: 'Yes' })).to.equal(
      '日本語\n> 日本',
    );
  });

  it('is decoded alike however it is cut', () => {
    const text = `a=3D\t\r\nb=20 \r\nc= \r\nd=C3=BC=\r\n=3D=zz x${' '.repeat(20)}\r\n=41`;
    const whole = decoded('quoted-printable', 1000, text);
    expect(whole).to.equal('a=\r\nb \r\ncd\u00fc==zz x\r\nA');
    for (let size = 1; size < 20; size++) {
      expect(decoded('quoted-printable', size, text), `${size}`).to.equal(whole);
    }
  });
});

describe('the header of a message', () => {
  const read = (header: string) =>
    parseMailHeader({ seq: 1, uid: 1, headers: Buffer.from(header) });

  it('is read up to 128 KiB, once, and without the fields that nobody reads', () => {
    const { text, fields } = read('Subject: a\r\n b\r\nX-Other: c\r\n d\r\nTO : e\r\n\r\n');
    expect(text).to.equal('Subject: a\r\n b\r\nTO : e\r\n\r\n');
    expect(fields).to.equal([
      { name: 'subject', value: 'a b' },
      { name: 'to', value: 'e' },
    ]);
    expect(read('to:b\r\n'.repeat(1024 * 1024)).text.length).to.equal(
      Math.floor((128 * 1024) / 6) * 6,
    );
  });

  it('has a time of arrival that can be written down', () => {
    const at = (date: string) => arrivalTime({ seq: 1, uid: 1, internalDate: new Date(date) });
    expect(at('+275760-01-01T00:00:00Z')).to.be.null();
    expect(at('1969-12-31T00:00:00Z')).to.be.null();
    expect(at('not a date')).to.be.null();
    expect(at('2026-01-31T09:30:00Z')).to.equal(Date.UTC(2026, 0, 31, 9, 30));
  });
});
