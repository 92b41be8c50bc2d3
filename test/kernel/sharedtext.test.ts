import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { shareText, unsharedText } from '../../src/kernel/sharedtext.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LARGE = 200 * 1024;

describe('a text for several threads', () => {
  it('is in memory that they share if it is large, and comes back equal', () => {
    for (const each of ['a', 'ü€😀', '\uFEFFmarked', '\0']) {
      const text = each.repeat(LARGE);
      const shared = shareText(text);
      expect(shared).to.be.instanceof(Uint8Array);
      expect(shared instanceof Uint8Array && shared.buffer).to.be.instanceof(SharedArrayBuffer);
      const alike = structuredClone(shared);
      expect(alike instanceof Uint8Array && alike.length).to.equal(Buffer.byteLength(text));
      expect(unsharedText(alike) === text, each).to.be.true();
    }
  });

  it('is the text itself if it is small', () => {
    expect(shareText('{"n":1}')).to.equal('{"n":1}');
    expect(unsharedText('{"n":1}')).to.equal('{"n":1}');
  });
});
