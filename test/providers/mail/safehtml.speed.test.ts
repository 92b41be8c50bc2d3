import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { safeMailHtml } from '../../../src/providers/mail/safehtml.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the HTML of an e-mail', () => {
  it('is made safe in bounded time, however deep and broken it is', async () => {
    const begun = performance.now();
    for (const piece of ['<div>', '<p style="', '<a href=', '<!--', '<svg>', '<table><tr>', '&#']) {
      await safeMailHtml(piece.repeat(20_000));
    }
    expect(performance.now() - begun).to.be.below(10_000);
  });
});
