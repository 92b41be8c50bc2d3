import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { searchWords } from '../../src/kernel/searchwords.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('searchWords', () => {
  it('are in lower case, without accents, each once', async () => {
    expect(await searchWords('Café CAFÉ cafe\u0301 Straße')).to.equal(['cafe', 'strass']);
  });

  it('are the stems of English words', async () => {
    expect(await searchWords('connections connecting connected')).to.equal(['connect']);
  });

  it('leave out what says nothing of the subject, in several languages', async () => {
    expect(await searchWords('the and of, der die und, les et, el los')).to.equal([]);
  });

  it('are pairs of characters where a script has no spaces', async () => {
    expect(await searchWords('東京都')).to.equal(['東京', '京都']);
    expect(await searchWords('水')).to.equal(['水']);
    expect(await searchWords('port 3005 の設定')).to.equal(['port', '3005', 'の設', '設定']);
  });

  it('keep the marks that make another letter', async () => {
    expect(await searchWords('が')).to.equal(['が']);
    expect(await searchWords('한국어')).to.equal(['한국어']);
  });

  it('are at most 500, of at most 40 characters', async () => {
    const many = Array.from({ length: 2000 }, (_, n) => `w${n}`).join(' ');
    expect(await searchWords(many)).to.have.length(500);
    expect(await searchWords('x'.repeat(1000))).to.equal(['x'.repeat(40)]);
  });
});
