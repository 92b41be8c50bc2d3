import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPacedText } from '../../src/agents/pacedtext.js';
import { until } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

const opened = () => {
  const sent: [number, string][] = [];
  const reader = { isThere: true, asked: 0 };
  const paced = createPacedText({
    isWanted: () => {
      reader.asked++;
      return reader.isThere;
    },
    send: (from, text) => sent.push([from, text]),
  });
  return { ...paced, sent, reader };
};

describe('paced text', () => {
  it('sends the first piece at once, and joins those that follow', async () => {
    const { take, sent } = opened();
    for (const piece of ['a', 'b', 'c']) take(piece);
    expect(sent).to.equal([[0, 'a']]);
    await until(
      async () => sent.length,
      (count) => count === 2,
    );
    expect(sent).to.equal([
      [0, 'a'],
      [1, 'bc'],
    ]);
  });

  it('sends the rest at the end, and nothing twice', async () => {
    const { take, end, sent } = opened();
    for (const piece of ['one ', 'two ', 'three']) take(piece);
    end();
    end();
    expect(sent).to.equal([
      [0, 'one '],
      [4, 'two three'],
    ]);
  });

  it('sends nothing while nobody reads, and asks for readers once in a pace', () => {
    const { take, end, sent, reader } = opened();
    reader.isThere = false;
    for (let nth = 0; nth < 1000; nth++) take('word ');
    reader.isThere = true;
    end();
    expect(sent).to.equal([]);
    expect(reader.asked).to.be.below(5);
  });

  it('gives the whole text to who comes while nobody reads, and to who comes back', async () => {
    const { take, sent, reader } = opened();
    let written = '';
    const reaches = async (isSo: () => boolean) => {
      await until(
        async () => {
          take('.');
          written += '.';
          return isSo();
        },
        (is) => is,
      );
    };
    reader.isThere = false;
    await reaches(() => reader.asked > 1);
    reader.isThere = true;
    await reaches(() => sent.length > 0);
    expect(sent).to.equal([[0, written]]);
    reader.isThere = false;
    const { asked } = reader;
    await reaches(() => reader.asked > asked);
    reader.isThere = true;
    await reaches(() => sent.length > 1);
    expect(sent.at(-1)).to.equal([0, written]);
  });

  it('sends the newest part of more than a frame holds', () => {
    const { take, sent } = opened();
    take(`${'x'.repeat(10_000)}${'y'.repeat(65_536)}`);
    take('z');
    expect(sent).to.equal([[10_000, 'y'.repeat(65_536)]]);
  });
});
