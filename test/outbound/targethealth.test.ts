import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createTargetHealth } from '../../src/outbound/targethealth.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SENT = { verdict: 'sent' as const, receipt: null };
const RETRY = { verdict: 'retry' as const, error: 'busy' };

describe('targetHealth', () => {
  it('trusts a target once it has answered well, and no longer when it fails', () => {
    const targetHealth = createTargetHealth();
    expect(targetHealth.isDoubtful('webhook_1')).to.be.true();
    targetHealth.note('webhook_1', SENT);
    expect(targetHealth.isDoubtful('webhook_1')).to.be.false();
    targetHealth.note('webhook_1', RETRY);
    expect(targetHealth.isDoubtful('webhook_1')).to.be.true();
    expect(targetHealth.isDoubtful('webhook_2')).to.be.true();
    expect(targetHealth.isDoubtful('owner_user_1')).to.be.false();
  });

  it('lets a target that fails rest longer each time, a minute at most, until it answers well', () => {
    const targetHealth = createTargetHealth();
    const rests = Array.from({ length: 12 }, () => targetHealth.note('webhook_1', RETRY));
    expect(rests[0] ?? 0).to.be.between(249, 301);
    expect(rests[3] ?? 0).to.be.between(1999, 2401);
    expect(rests.at(-1) ?? 0).to.be.between(59_999, 72_001);
    expect(targetHealth.note('webhook_1', SENT)).to.equal(0);
    expect(targetHealth.note('webhook_1', RETRY)).to.be.between(249, 301);
  });

  it('leaves it alone for as long as it asks, ten minutes at most', () => {
    const targetHealth = createTargetHealth();
    expect(targetHealth.note('webhook_1', { ...RETRY, afterMs: 30_000 })).to.equal(30_000);
    expect(targetHealth.note('webhook_2', { ...RETRY, afterMs: 1e9 })).to.equal(600_000);
  });

  it('takes what a target would not have for no illness, unless it is gone', () => {
    const targetHealth = createTargetHealth();
    targetHealth.note('webhook_1', SENT);
    expect(targetHealth.note('webhook_1', { verdict: 'failed', error: 'too long' })).to.equal(0);
    expect(targetHealth.isDoubtful('webhook_1')).to.be.false();
    const gone = { verdict: 'failed' as const, error: 'gone', isGone: true };
    expect(targetHealth.note('webhook_1', gone)).to.be.above(0);
  });
});
