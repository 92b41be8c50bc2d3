import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CHANNEL_DELAYS_MS } from '../../src/channels/delays.js';
import { until } from '../harness/app.js';
import { openStage, type Stage } from '../outbound/stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const HOUR = 3_600_000;
const LAST = CHANNEL_DELAYS_MS.length;

describe('a message to a channel that is down', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage({ delaysMs: CHANNEL_DELAYS_MS });
    stage.slack.answer = async () => ({ verdict: 'retry', status: 502, error: 'down' });
  });
  after(() => stage.test.stop());

  const first = async () => (await stage.messages())[0];
  /** Makes the first message due as if it had been tried so often; another one wakes its lane. */
  const triedAlready = async (attempts: number): Promise<void> => {
    const { id = '' } = (await first()) ?? {};
    const { db } = stage.test.app.store;
    await db.updateTable('sendings').set({ attempts }).where('id', '=', id).execute();
    const run_at = new Date(0).toISOString();
    await db.updateTable('jobs').set({ run_at }).where('ref', '=', id).execute();
    await stage.tell(`Tried ${attempts} times`);
    await until(first, (row) => row?.attempts === attempts + 1 && row.status !== 'sending');
  };
  const waitMs = async (): Promise<number> =>
    Date.parse((await first())?.next_at ?? '') - Date.now();

  it('is tried for 24 hours', () => {
    const sum = CHANNEL_DELAYS_MS.reduce((total, each) => total + each, 0);
    expect(sum).to.be.between(23.9 * HOUR, 24 * HOUR);
    const growing = CHANNEL_DELAYS_MS.toSorted((a, b) => a - b);
    expect(CHANNEL_DELAYS_MS).to.equal(growing);
  });

  it('is tried again in seconds at first, and in hours at last', async () => {
    await stage.tell('Down');
    await until(first, (row) => row?.attempts === 1 && row.status === 'queued');
    expect(await waitMs()).to.be.between(1_000, 6_001);
    await triedAlready(LAST - 1);
    expect(await waitMs()).to.be.between(7.9 * HOUR, 9.6 * HOUR + 1);
  });

  it('is told in the app when it is given up', async () => {
    await triedAlready(LAST);
    expect(await first()).to.include({ status: 'failed', attempts: LAST + 1, error: 'down' });
    const { body } = await stage.test.call('GET', '/api/notifications', {
      token: stage.owner.token,
    });
    const [notice] = body.notifications.filter(
      ({ kind }: { kind: string }) => kind === 'delivery_failed',
    );
    expect(notice).to.include({
      title: 'slack: a message could not be delivered',
      body: `Delivery of "hook_notice" failed after ${LAST + 1} attempts: down`,
      link: '/api/channels',
    });
  });
});
