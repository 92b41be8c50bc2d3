import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { computedMs, limitMs } from '../../generated/block.js';
import { decoded } from './decodedparts.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the structure of a message', () => {
  it('is decoded in time that grows with its length', () => {
    const PIECE = 64 * 1024;
    for (const part of ['=41', ' ', '=', 'a']) {
      const before = computedMs();
      decoded('quoted-printable', PIECE, part.repeat((16 * 1024 * 1024) / part.length));
      expect(computedMs() - before, part).to.be.below(limitMs(4000));
    }
  });
});
