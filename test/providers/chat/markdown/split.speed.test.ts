import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { splitText } from '../../../../src/providers/chat/markdown/split.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('splitText', () => {
  it('parts a megabyte in a blink', () => {
    const text = `${'x'.repeat(99)}\n`.repeat(10_000);
    const began = performance.now();
    expect(splitText(text, 4096).join('')).to.equal(text);
    expect(performance.now() - began).to.be.below(2000);
  });
});
