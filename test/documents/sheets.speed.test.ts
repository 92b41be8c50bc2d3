import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { expectRepeatsLimited } from './spreadsheet.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the text of a spreadsheet of OpenDocument', () => {
  it('is refused or cut at once where cells or rows are repeated without end', async () => {
    const since = performance.now();
    await expectRepeatsLimited();
    expect(performance.now() - since).to.be.below(5000);
  });
});
