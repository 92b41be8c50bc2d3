import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { splitIntoChunks } from '../../src/knowledge/procedures/split.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the split of a text', () => {
  const headingsOf = (text: string): (string | null)[] =>
    splitIntoChunks({ text, pages: [] }).chunks.map(({ heading }) => heading);

  it('knows headings, with and without the signs that close them', () => {
    expect(headingsOf('# Piers\n\nOpen.')).to.equal(['Piers']);
    expect(headingsOf('# Piers ##  \n\nOpen.')).to.equal(['Piers']);
    expect(headingsOf('# C#\n\nOpen.')).to.equal(['C#']);
    expect(headingsOf('#Piers\n\nOpen.')).to.equal([null]);
  });

  it('takes no longer for what is made to be slow', () => {
    const hostile = [
      `# a${' '.repeat(1900)}x`,
      `# a${' #'.repeat(900)}x`,
      `${'# a '.repeat(500)}\n`.repeat(200),
      '.'.repeat(500_000),
      `${'."'.repeat(100_000)}x`,
      '\n'.repeat(500_000),
      `a${' \n'.repeat(200_000)}b`,
    ];
    for (const text of hostile) {
      const { chunks } = splitIntoChunks({ text, pages: [] });
      const last = chunks.at(-1);
      if (/\w/.test(text)) expect((last?.start ?? 0) + (last?.text.length ?? 0)).to.be.above(0);
    }
  });
});
