import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sanitizeModelText } from '../../src/knowledge/modeltext.js';

export const lab = Lab.script();
const { describe, it } = lab;
const KNOWN = ['https://town.example/bridge', 'town.example/bridge'];
const plain = (text: string): string =>
  sanitizeModelText(text, { most: 2000, isKnown: (address) => KNOWN.includes(address) });

describe('what a model wrote', () => {
  it('takes linear time', () => {
    for (const sign of ['[', '<', '!', '&', 'a.', 'a-', '//', 'a.b/']) {
      const since = performance.now();
      plain(sign.repeat(200_000));
      expect(performance.now() - since).to.be.below(200);
    }
  });
});
