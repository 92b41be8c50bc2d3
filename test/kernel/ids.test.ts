import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { mint, timeDigits } from '../../src/kernel/ids.js';

export const lab = Lab.script();
const { describe, it } = lab;

const FAR = Date.parse('2040-01-01T00:00:00.000Z');

describe('mint', () => {
  it('names the noun and adds 26 characters', () => {
    expect(mint('hook', Date.parse('2026-03-01T12:00:00.000Z'))).to.match(
      /^hook_[0-9a-hjkmnp-tv-z]{26}$/,
    );
  });

  it('sorts in the order of minting, within a millisecond and when the clock steps back', () => {
    const minted = [
      ...Array.from({ length: 2000 }, () => mint('x', FAR)),
      ...Array.from({ length: 2000 }, (_, n) => mint('x', FAR - n * 1000)),
      ...Array.from({ length: 2000 }, (_, n) => mint('x', FAR + n)),
    ];
    expect(minted).to.equal([...minted].sort());
    expect(new Set(minted).size).to.equal(minted.length);
  });

  it('begins with the time', () => {
    const times = [FAR + 10_000, FAR + 20_000].map((now) => mint('x', now).slice(2, 12));
    expect(times[0]).to.not.equal(times[1]);
    expect([mint('x', FAR + 20_000).slice(2, 12)]).to.equal(times.slice(1));
  });
});

describe('timeDigits', () => {
  it('sorts as its times do, and takes a time before 1970 for 1970', () => {
    expect(timeDigits(0)).to.equal('0000000000');
    expect(timeDigits(Date.parse('0001-01-01T00:00:00.000Z'))).to.equal('0000000000');
    expect([timeDigits(31), timeDigits(32)]).to.equal(['000000000z', '0000000010']);
  });
});
