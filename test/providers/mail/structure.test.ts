import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { arrivalTime, parseMailHeader } from '../../../src/email/messages/record.js';
import { collectMailParts, decodedPart } from '../../../src/providers/mail/structure.js';
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
    expect(['.bashrc', '..', '-rf', '../../x'].map(nameIn)).to.equal([
      ...['_bashrc', '_', '_rf', '__.._x'],
    ]);
  });

  it('has text without what its encoding has added', () => {
    const part = { part: '1', encoding: 'quoted-printable', charset: 'utf-8', bytes: 1 };
    const decode = (text: string): string => decodedPart(Buffer.from(text), part);
    expect(decode('a \t\r\nb=20 \r\nc= \r\nd=C3=BC=\r\n=3D=zz \t')).to.equal(
      'a\nb \ncd\u00fc==zz \t',
    );
    expect(decode(' \r\n\t\nx')).to.equal('\n\nx');
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
