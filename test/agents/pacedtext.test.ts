import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPacedText } from '../../src/agents/pacedtext.js';
import { until } from '../harness/app.js';
import { timersFired } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

const opened = () => {
  const sent: [number, string][] = [];
  const reader = { newest: 1, asked: 0 };
  const paced = createPacedText({
    newestReader: () => {
      reader.asked++;
      return reader.newest;
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
    reader.newest = 0;
    for (let nth = 0; nth < 1000; nth++) take('word ');
    reader.newest = 2;
    end();
    expect(sent).to.equal([]);
    expect(reader.asked).to.be.below(5);
  });

  it('gives the whole text to who comes while nobody reads, and to who comes back', async () => {
    const { take, end, sent, reader } = opened();
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
    reader.newest = 0;
    await reaches(() => reader.asked > 1);
    reader.newest = 3;
    const before = written.length;
    await reaches(() => sent.length > 0);
    expect(sent[0]).to.equal([0, written.slice(0, sent[0]?.[1].length)]);
    expect(sent[0]?.[1].length ?? 0).to.be.least(before);
    reader.newest = 0;
    const { asked } = reader;
    await reaches(() => reader.asked > asked + 1);
    const heard = sent.length;
    const length = written.length;
    reader.newest = 4;
    await reaches(() => sent.length > heard);
    expect(sent[heard]).to.equal([0, written.slice(0, sent[heard]?.[1].length)]);
    expect(sent[heard]?.[1].length ?? 0).to.be.least(length);
    end();
  });

  it('gives what there is to who comes while nothing is written', async () => {
    const { take, end, sent, reader } = opened();
    reader.newest = 0;
    take('one ');
    take('two');
    reader.newest = 1;
    await until(
      async () => sent.length,
      (count) => count === 1,
    );
    reader.newest = 2;
    await until(
      async () => sent.length,
      (count) => count === 2,
    );
    end();
    reader.newest = 3;
    await timersFired(500);
    expect(sent).to.equal([
      [0, 'one two'],
      [0, 'one two'],
    ]);
  });

  it('gives the whole text to who comes while others read', async () => {
    const { take, sent, reader } = opened();
    take('one ');
    reader.newest = 2;
    take('two');
    await until(
      async () => sent.length,
      (count) => count === 2,
    );
    expect(sent).to.equal([
      [0, 'one '],
      [0, 'one two'],
    ]);
    // One of them has left.
    reader.newest = 1;
    take(' three');
    await until(
      async () => sent.length,
      (count) => count === 3,
    );
    expect(sent[2]).to.equal([7, ' three']);
  });

  it('sends the newest part of more than a frame holds', () => {
    const { take, sent } = opened();
    take(`${'x'.repeat(10_000)}${'y'.repeat(65_536)}`);
    take('z');
    expect(sent).to.equal([[10_000, 'y'.repeat(65_536)]]);
  });
});
