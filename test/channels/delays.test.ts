import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CHANNEL_DELAYS_MS } from '../../src/channels/delays.js';
import { frozenClock, until } from '../harness/app.js';
import { openStage, type Stage } from '../outbound/stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const HOUR = 3_600_000;
const LAST = CHANNEL_DELAYS_MS.length;

describe('a message to a channel that is down', () => {
  const clock = frozenClock();
  let stage: Stage;
  before(async () => {
    stage = await openStage({ delaysMs: CHANNEL_DELAYS_MS }, { tokenHours: 720 }, clock);
    stage.slack.answer = async () => ({ verdict: 'retry', status: 502, error: 'down' });
  });
  after(() => stage.test.stop());

  const tried = (attempts: number) =>
    until(
      async () => (await stage.messages())[0],
      (row) => row?.attempts === attempts && row.status !== 'sending',
    );

  it('is tried for 24 hours', () => {
    const sum = CHANNEL_DELAYS_MS.reduce((total, each) => total + each, 0);
    expect(sum).to.be.between(23.9 * HOUR, 24 * HOUR);
    const growing = CHANNEL_DELAYS_MS.toSorted((a, b) => a - b);
    expect(CHANNEL_DELAYS_MS).to.equal(growing);
  });

  it('is tried again after each of them, and told in the app when it is given up', async () => {
    await stage.tell('Down');
    for (const [at, delayMs] of CHANNEL_DELAYS_MS.entries()) {
      const waitMs = Date.parse((await tried(at + 1))?.next_at ?? '') - clock.now();
      expect(waitMs).to.be.between(delayMs - 1, delayMs * 1.2 + 1);
      clock.forward(waitMs);
    }
    const last = await tried(LAST + 1);
    expect(last).to.include({ status: 'failed', attempts: LAST + 1, error: 'down' });
    const { body } = await stage.test.call('GET', '/api/notifications', {
      token: stage.owner.token,
    });
    const [notice] = body.notifications.filter(
      ({ kind }: { kind: string }) => kind === 'delivery_failed',
    );
    expect(notice).to.include({
      title: 'slack: a message could not be delivered',
      body: `Delivery of "hook message" failed after ${LAST + 1} attempts: down`,
      link: '/api/channels',
    });
  });
});
