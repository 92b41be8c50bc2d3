import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPartDecoder } from '../../../src/providers/mail/structure.js';
import { computedMs, limitMs } from '../../generated/block.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the structure of a message', () => {
  it('is decoded alike however it is cut, and in time that grows with its length', () => {
    const text = `a=3D\t\r\nb=20 \r\nc= \r\nd=C3=BC=\r\n=3D=zz x${' '.repeat(20)}\r\n=41`;
    const decoded = (encoding: string, size: number, of = text): string => {
      const decode = createPartDecoder(encoding);
      const pieces = Array.from({ length: Math.ceil(of.length / size) }, (_, at) =>
        decode(Buffer.from(of.slice(at * size, (at + 1) * size))),
      );
      return Buffer.concat([...pieces, decode(null)]).toString();
    };
    const whole = decoded('quoted-printable', 1000);
    expect(whole).to.equal('a=\r\nb \r\ncd\u00fc==zz x\r\nA');
    for (let size = 1; size < 20; size++) {
      expect(decoded('quoted-printable', size), `${size}`).to.equal(whole);
    }
    const PIECE = 64 * 1024;
    for (const part of ['=41', ' ', '=', 'a']) {
      const before = computedMs();
      decoded('quoted-printable', PIECE, part.repeat((16 * 1024 * 1024) / part.length));
      expect(computedMs() - before, part).to.be.below(limitMs(4000));
    }
  });
});
