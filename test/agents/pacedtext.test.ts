import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPacedText } from '../../src/agents/pacedtext.js';
import { frozenClock } from '../harness/clock.js';

export const lab = Lab.script();
const { describe, it } = lab;

const PACE_MS = 250;

const opened = () => {
  const sent: [number, string][] = [];
  const reader = { newest: 1, asked: 0 };
  const clock = frozenClock();
  const paced = createPacedText({
    clock,
    newestReader: () => {
      reader.asked++;
      return reader.newest;
    },
    send: (from, text) => sent.push([from, text]),
  });
  return { ...paced, sent, reader, pace: () => clock.forward(PACE_MS) };
};

describe('paced text', () => {
  it('sends the first piece at once, and joins those that follow', () => {
    const { take, sent, pace } = opened();
    for (const piece of ['a', 'b', 'c']) take(piece);
    expect(sent).to.equal([[0, 'a']]);
    pace();
    expect(sent).to.equal([
      [0, 'a'],
      [1, 'bc'],
    ]);
  });

  it('sends the rest at the end, and nothing twice', () => {
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
    expect(reader.asked).to.equal(1);
  });

  it('gives the whole text to who comes while nobody reads, and to who comes back', () => {
    const { take, end, sent, reader, pace } = opened();
    const write = (piece: string) => {
      take(piece);
      pace();
    };
    reader.newest = 0;
    write('one ');
    reader.newest = 3;
    write('two ');
    expect(sent).to.equal([[0, 'one two ']]);
    reader.newest = 0;
    write('three ');
    reader.newest = 4;
    write('four');
    end();
    expect(sent.slice(1)).to.equal([[0, 'one two three four']]);
  });

  it('gives what there is to who comes while nothing is written', () => {
    const { take, end, sent, reader, pace } = opened();
    reader.newest = 0;
    take('one ');
    take('two');
    reader.newest = 1;
    pace();
    expect(sent).to.equal([[0, 'one two']]);
    reader.newest = 2;
    pace();
    end();
    reader.newest = 3;
    pace();
    expect(sent).to.equal([
      [0, 'one two'],
      [0, 'one two'],
    ]);
  });

  it('sends a piece after a pause at once', () => {
    const { take, sent, pace } = opened();
    take('one ');
    pace();
    take('two');
    expect(sent).to.equal([
      [0, 'one '],
      [4, 'two'],
    ]);
  });

  it('gives the whole text to who comes while others read', () => {
    const { take, sent, reader, pace } = opened();
    take('one ');
    reader.newest = 2;
    take('two');
    pace();
    expect(sent).to.equal([
      [0, 'one '],
      [0, 'one two'],
    ]);
    // One of them has left.
    reader.newest = 1;
    take(' three');
    pace();
    expect(sent[2]).to.equal([7, ' three']);
  });

  it('sends the newest part of more than a frame holds', () => {
    const { take, sent } = opened();
    take(`${'x'.repeat(10_000)}${'y'.repeat(65_536)}`);
    take('z');
    expect(sent).to.equal([[10_000, 'y'.repeat(65_536)]]);
  });
});
