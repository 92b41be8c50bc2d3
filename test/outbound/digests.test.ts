import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Notice } from '../../src/outbound/outbox.js';
import type { Transport } from '../../src/outbound/transport.js';
import { type FrozenClock, frozenClock, until, untilAtLeast } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { type Arrived, linkOn, putTransport, recordingTransport } from '../harness/transport.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MINUTE = 60_000;
const STORM = 100;
/** Noon in UTC is nine in the evening there. */
const QUIET = { enabled: true, from: '20:00', to: '07:00', timezone: 'Asia/Tokyo' };

describe('a storm', () => {
  let clock: FrozenClock;
  let desk: Desk;
  let arrived: Arrived[];
  let alive: Transport;

  beforeEach(async () => {
    clock = frozenClock();
    desk = await openDesk({ clock, config: { tokenHours: 720 } });
    ({ transport: alive, arrived } = recordingTransport());
    putTransport(desk.test, alive, ['slack', 'telegram']);
    await linkOn(desk.test, desk.owner.id, 'slack');
    await come(1);
    arrived.length = 0;
  });
  afterEach(() => desk.test.stop());

  const come = (count: number): Promise<Arrived[]> => untilAtLeast(async () => arrived, count);
  const prefer = async (given: object, token = desk.owner.token): Promise<void> => {
    const path = '/api/notifications/preferences';
    const { status, text } = await desk.test.call('PUT', path, { token, body: given });
    if (status !== 200) throw new Error(text);
  };
  const say = (title: string, more: Partial<Notice> = {}, userId = desk.owner.id) =>
    inside(desk.test.app).outbox.send(userId, {
      ...{ kind: 'hook_failed', title, body: 'A body', link: null, about: 'deploy' },
      ...more,
    });
  const tick = () => inside(desk.test.app).digests.tick();
  const settled = () =>
    until(
      () => desk.test.app.store.db.selectFrom('jobs').select('id').execute(),
      ({ length }) => length === 0,
    );
  const messages = async (query: string) =>
    (await desk.ask('GET', `/api/admin/outbox${query}`)).body.sendings;

  it('at a dead channel is one dead letter, which says a hundred when it is sent again', async () => {
    await prefer({ digest: { enabled: true } });
    const dead: Transport = {
      ...alive,
      ...{ delaysMs: [5], send: async () => ({ verdict: 'retry', error: 'down' }) },
    };
    putTransport(desk.test, dead, ['slack']);
    for (let n = 0; n < STORM; n++) await say(`Number ${n}`);
    await settled();
    clock.forward(10 * MINUTE);
    await tick();
    const [letter, ...others] = await until(
      async () => {
        clock.forward(10);
        return messages('?status=failed');
      },
      ({ length }) => length > 0,
    );
    expect(others).to.equal([]);
    expect(letter).to.include({ kind: 'hook_failed', target: 'slack', attempts: 2, error: 'down' });
    expect(await messages('?status=queued')).to.equal([]);
    const { body } = await desk.ask('GET', '/api/notifications?kind=hook_failed&limit=200');
    expect(body.notifications.length).to.equal(STORM);
    putTransport(desk.test, alive, ['slack']);
    await desk.ask('POST', `/api/admin/outbox/${letter.id}/resend`);
    // The lane rests after the failures.
    clock.forward(MINUTE);
    await come(1);
    await settled();
    expect(arrived.map(({ title }) => title)).to.equal([
      '100 hook failures in 10 minutes: deploy 100',
    ]);
  });

  it('of what hooks say with notifyOwner is told one by one and at once', async () => {
    const kinds = ['hook_notice', 'agent_notice'].map((kind) => ({
      ...{ kind, channelId: null, enabled: false },
    }));
    await prefer({ kinds, quietHours: QUIET, digest: { enabled: true } });
    const path = { direct: onPath('direct'), muted: onPath('muted'), spawns: onPath('spawns') };
    const notifies = (notifyOwner: boolean) => ({ notifyMessage: 'It came', notifyOwner });
    await desk.hook({ name: 'direct', ...path.direct, actionConfig: notifies(true) });
    await desk.hook({ name: 'muted', ...path.muted, actionConfig: notifies(false) });
    await desk.hook({
      ...{ name: 'spawns', ...path.spawns, action: 'spawn_agent' },
      actionConfig: { agentPrompt: 'What is it?', notifyOwner: true },
    });
    for (let n = 0; n < 5; n++) {
      for (const name of ['muted', 'direct', 'spawns']) await desk.deliver(name, `{"n":${n}}`);
    }
    await come(10);
    await settled();
    const counts = new Map<string, number>();
    for (const { kind } of arrived) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    expect(Object.fromEntries(counts)).to.equal({ hook_notice: 5, agent_completed: 5 });
  });

  it('that cannot be told holds up nobody else’s', async () => {
    const other = await desk.test.register('other');
    await linkOn(desk.test, other.id, 'telegram');
    await come(1);
    arrived.length = 0;
    await prefer({ digest: { enabled: true }, quietHours: { ...QUIET, from: '21:05' } });
    await prefer({ digest: { enabled: true } }, other.token);
    await say('Mine');
    await settled();
    await say('Theirs', {}, other.id);
    await settled();
    const { db } = desk.test.app.store;
    // As an earlier or later Node might know it.
    await db
      .updateTable('notification_settings')
      .set({ timezone: 'Nowhere/Nowhere' })
      .where('user_id', '=', desk.owner.id)
      .execute();
    clock.forward(10 * MINUTE);
    await tick();
    await come(1);
    expect(arrived.map(({ title }) => title)).to.equal(['Theirs']);
    await prefer({ quietHours: QUIET });
    await prefer({ quietHours: { enabled: false } });
    await tick();
    await come(2);
    expect(arrived.map(({ title }) => title)).to.equal(['Theirs', 'Mine']);
  });
});
