import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createRate, getNetworkPrefix } from '../../src/kernel/rate.js';
import { frozenClock } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('rate', () => {
  it('counts down to nothing within a minute', () => {
    const clock = frozenClock();
    const rate = createRate(2, clock);
    const left = { limit: 2, remaining: 1, resetSeconds: 60, isSpent: false };
    expect(rate.take('ada')).to.equal(left);
    clock.forward(15_500);
    expect(rate.take('ada')).to.equal({ ...left, remaining: 0, resetSeconds: 45 });
    expect(rate.take('ada')).to.equal({ ...left, remaining: 0, resetSeconds: 45, isSpent: true });
    expect(rate.take('bob')).to.equal({ ...left, resetSeconds: 45 });
  });

  it('begins anew after a minute, and when the clock steps back', () => {
    const clock = frozenClock();
    const rate = createRate(1, clock);
    rate.take('ada');
    expect(rate.take('ada')?.isSpent).to.be.true();
    clock.forward(60_000);
    expect(rate.take('ada')?.isSpent).to.be.false();
    clock.shift(-3600_000);
    expect(rate.take('ada')?.isSpent).to.be.false();
  });

  it('is off with nothing a minute', () => {
    expect(createRate(0, frozenClock()).take('ada')).to.be.null();
  });

  it('counts newcomers together where there are very many', () => {
    const rate = createRate(2, frozenClock());
    for (let n = 0; n < 100_000; n++) rate.take(`address ${n}`);
    expect(rate.take('one more')?.remaining).to.equal(1);
    expect(rate.take('another')?.remaining).to.equal(0);
    expect(rate.take('the third')?.isSpent).to.be.true();
    expect(rate.take('address 1')?.remaining).to.equal(0);
  });
});

describe('networkOf', () => {
  it('is the address, or the /64 of an IPv6 address', () => {
    expect(getNetworkPrefix('192.0.2.1')).to.equal('192.0.2.1');
    expect(getNetworkPrefix('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2');
    expect(getNetworkPrefix('2001:db8::1')).to.equal('2001:db8:0:0');
    expect(getNetworkPrefix('::1')).to.equal('0:0:0:0');
    expect(getNetworkPrefix('')).to.equal('');
  });

  it('is the same however an address is spelt', () => {
    for (const one of [
      '2001:DB8::1',
      '2001:0db8:0:0::ffff',
      '2001:db8::192.0.2.1',
      '2001:db8::%1',
    ]) {
      expect(getNetworkPrefix(one)).to.equal('2001:db8:0:0');
    }
    for (const one of ['::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1']) {
      expect(getNetworkPrefix(one)).to.equal('192.0.2.1');
    }
    expect(getNetworkPrefix('device 1')).to.equal('device 1');
  });
});
