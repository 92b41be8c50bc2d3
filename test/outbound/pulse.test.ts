import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createPulse } from '../../src/outbound/pulse.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SENT = { verdict: 'sent' as const, receipt: null };
const RETRY = { verdict: 'retry' as const, error: 'busy' };

describe('pulse', () => {
  it('trusts a target once it has answered well, and no longer when it fails', () => {
    const pulse = createPulse();
    expect(pulse.isDoubtful('webhook_1')).to.be.true();
    pulse.note('webhook_1', SENT);
    expect(pulse.isDoubtful('webhook_1')).to.be.false();
    pulse.note('webhook_1', RETRY);
    expect(pulse.isDoubtful('webhook_1')).to.be.true();
    expect(pulse.isDoubtful('webhook_2')).to.be.true();
    expect(pulse.isDoubtful('owner_user_1')).to.be.false();
  });

  it('lets a target that fails rest longer each time, a minute at most, until it answers well', () => {
    const pulse = createPulse();
    const rests = Array.from({ length: 12 }, () => pulse.note('webhook_1', RETRY));
    expect(rests[0] ?? 0).to.be.between(249, 301);
    expect(rests[3] ?? 0).to.be.between(1999, 2401);
    expect(rests.at(-1) ?? 0).to.be.between(59_999, 72_001);
    expect(pulse.note('webhook_1', SENT)).to.equal(0);
    expect(pulse.note('webhook_1', RETRY)).to.be.between(249, 301);
  });

  it('leaves it alone for as long as it asks, ten minutes at most', () => {
    const pulse = createPulse();
    expect(pulse.note('webhook_1', { ...RETRY, afterMs: 30_000 })).to.equal(30_000);
    expect(pulse.note('webhook_2', { ...RETRY, afterMs: 1e9 })).to.equal(600_000);
  });

  it('takes what a target would not have for no illness, unless it is gone', () => {
    const pulse = createPulse();
    pulse.note('webhook_1', SENT);
    expect(pulse.note('webhook_1', { verdict: 'failed', error: 'too long' })).to.equal(0);
    expect(pulse.isDoubtful('webhook_1')).to.be.false();
    const gone = { verdict: 'failed' as const, error: 'gone', isGone: true };
    expect(pulse.note('webhook_1', gone)).to.be.above(0);
  });
});
