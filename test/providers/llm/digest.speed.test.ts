import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { digestOf } from './digestof.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('digest of a payload', () => {
  it('is quick with a megabyte', async () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, title: 'x'.repeat(30) }));
    const large = [{ items }, { body: 'x'.repeat(2 ** 20) }, { body: '\x1b['.repeat(2 ** 17) }];
    const began = performance.now();
    for (const payload of large) await digestOf(payload);
    expect(performance.now() - began).to.be.below(1000);
  });
});
