import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Notice } from '../../src/outbound/outbox.js';
import { type FrozenClock, frozenClock, until, untilAtLeast } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { type Arrived, linkOn, putTransport, recordingTransport } from '../harness/transport.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KINDS = ['slack', 'telegram'] as const;
/** Noon in UTC is nine in the evening there. */
const QUIET = { enabled: true, from: '20:00', to: '07:00', timezone: 'Asia/Tokyo' };
const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const MORNING = 10 * HOUR;

describe('what the owner prefers', () => {
  let clock: FrozenClock;
  let desk: Desk;
  let arrived: Arrived[];
  let slack: string;
  let telegram: string;
  let transport: ReturnType<typeof recordingTransport>['transport'];

  before(async () => {
    clock = frozenClock(NOON);
    desk = await openDesk({ clock, config: { tokenHours: 720 } });
  });
  beforeEach(async () => {
    await desk.arrive();
    ({ transport, arrived } = recordingTransport());
    putTransport(desk.test, transport, [...KINDS]);
    slack = (await linkOn(desk.test, desk.owner.id, 'slack')).id;
    telegram = (await linkOn(desk.test, desk.owner.id, 'telegram')).id;
    // That each was linked is told to those that are.
    await come(3);
    arrived.length = 0;
  });
  afterEach(async () => {
    await settled();
    for (const table of ['channels', 'notice_batches', 'held_notices'] as const) {
      await desk.test.app.store.db.deleteFrom(table).execute();
    }
    // It is noon again, for quiet hours are those of a clock on the wall.
    clock.forward(DAY - ((clock.now() - NOON) % DAY));
  });
  after(() => desk.test.stop());

  const come = (count: number): Promise<Arrived[]> => untilAtLeast(async () => arrived, count);
  const prefer = async (given: object): Promise<void> => {
    const { status, text } = await desk.ask('PUT', '/api/notifications/preferences', given);
    if (status !== 200) throw new Error(text);
  };
  const say = (title: string, more: Partial<Notice> = {}): Promise<void> =>
    inside(desk.test.app).outbox.send(desk.owner.id, {
      ...{ kind: 'hook_notice', title, body: 'A body', link: null },
      ...more,
    });
  const tick = () => inside(desk.test.app).digests.tick();
  const tickAfter = (ms: number) => {
    clock.forward(ms);
    return tick();
  };
  const restart = async (): Promise<void> => {
    await desk.test.restart();
    putTransport(desk.test, transport, [...KINDS]);
  };
  /** All that was to be fanned out has been. */
  const settled = () =>
    until(
      () => desk.test.app.store.db.selectFrom('jobs').select('id').execute(),
      ({ length }) => length === 0,
    );
  const titlesAt = (channelId: string): string[] =>
    arrived.filter((one) => one.channelId === channelId).map(({ title }) => title);
  const kept = async (): Promise<number> =>
    (await desk.ask('GET', '/api/notifications')).body.unreadCount;

  it('is everything, everywhere and at once, until they say otherwise', async () => {
    await say('One');
    await come(2);
    expect([titlesAt(slack), titlesAt(telegram)]).to.equal([['One'], ['One']]);
  });

  it('mutes a kind on one channel, or on all but one, and keeps it in the app', async () => {
    const before = await kept();
    await prefer({ kinds: [{ kind: 'hook_notice', channelId: telegram, enabled: false }] });
    await say('One');
    await settled();
    await prefer({
      kinds: [
        { kind: 'hook_notice', channelId: null, enabled: false },
        { kind: 'hook_notice', channelId: telegram, enabled: true },
      ],
    });
    await say('Two');
    await say('Other', { kind: 'hook_exhausted' });
    await settled();
    expect([titlesAt(slack), titlesAt(telegram)]).to.equal([
      ['One', 'Other'],
      ['Two', 'Other'],
    ]);
    expect(await kept()).to.equal(before + 3);
  });

  it('is nothing to what a hook says with notifyOwner, nor to what cannot wait', async () => {
    const muted = ['hook_notice', 'agent_notice'].map((kind) => ({
      ...{ kind, channelId: null, enabled: false },
    }));
    await prefer({ kinds: muted, quietHours: QUIET, digest: { enabled: true } });
    await say('Direct', { isDirect: true });
    await say('Asks', { kind: 'approval_requested' });
    await say('Token', { kind: 'token.created' });
    await say('Muted');
    await settled();
    expect(titlesAt(slack)).to.equal(['Direct', 'Asks', 'Token']);
  });

  it('holds what comes in quiet hours, over a restart, and sends a few of it singly', async () => {
    await prefer({ quietHours: QUIET });
    for (const title of ['One', 'Two', 'Three']) await say(title);
    await settled();
    await tick();
    expect(arrived).to.equal([]);
    expect(await kept()).to.equal(5);
    await restart();
    await tickAfter(MORNING - 1);
    await settled();
    expect(arrived).to.equal([]);
    await tickAfter(1);
    await come(6);
    expect(titlesAt(slack)).to.equal(['One', 'Two', 'Three']);
    await tick();
    await settled();
    expect(arrived.length).to.equal(6);
  });

  it('sends more than a few that waited as one message, as each channel prefers', async () => {
    await prefer({
      quietHours: QUIET,
      kinds: [{ kind: 'hook_exhausted', channelId: telegram, enabled: false }],
    });
    for (const title of ['One', 'Two', 'Three']) await say(title, { about: 'issues' });
    await say('Four', { kind: 'hook_exhausted' });
    await settled();
    await tickAfter(MORNING);
    await settled();
    expect(titlesAt(telegram)).to.equal(['One', 'Two', 'Three']);
    expect(arrived.filter(({ channelId }) => channelId === slack)).to.equal([
      {
        channelId: slack,
        kind: 'digest',
        title: '4 messages in your quiet hours',
        body: '3 hook messages: issues 3; last: Three: A body\n1 exhausted hook; last: Four',
        link: '/notifications',
      },
    ]);
  });

  it('is told at once of what waits when quiet hours are turned off', async () => {
    await prefer({ quietHours: QUIET });
    await say('One');
    await settled();
    await prefer({ quietHours: { enabled: true, to: '08:00' } });
    await tick();
    await settled();
    expect(arrived).to.equal([]);
    await prefer({ quietHours: { enabled: false } });
    await tick();
    await come(2);
    expect(titlesAt(slack)).to.equal(['One']);
  });

  it('makes one message that says a hundred of a hundred failures, over a restart', async () => {
    await prefer({ digest: { enabled: true }, kinds: [muteOn(telegram)] });
    const ids = [await failing('deploy-notify'), await failing('stripe')];
    const deliver = async (path: string, from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) await desk.deliver(path, `{"n":${n}}`);
    };
    await deliver('deploy-notify', 0, 30);
    await restart();
    await deliver('deploy-notify', 30, 60);
    await deliver('stripe', 0, 40);
    await until(
      () => desk.ask('GET', '/api/notifications?kind=hook_failed&limit=200'),
      ({ body }) => body.notifications.length === 100,
    );
    await settled();
    expect(arrived).to.equal([]);
    await restart();
    await tickAfter(10 * MINUTE);
    await come(1);
    await settled();
    expect(arrived).to.equal([
      {
        channelId: slack,
        kind: 'hook_failed',
        title: '100 hook failures in 10 minutes: deploy-notify 60, stripe 40',
        body: `last: ${arrived[0]?.body.slice('last: '.length)}`,
        link: '/notifications',
      },
    ]);
    expect(arrived[0]?.body).to.match(/^last: (stripe|deploy-notify) failed: /);
    expect(ids.length).to.equal(2);
  });

  it('tells the first of a storm singly where so many are asked for, and says what is left', async () => {
    await prefer({ digest: { enabled: true, windowMinutes: 5, threshold: 2 } });
    for (let n = 1; n <= 7; n++) await say(`Number ${n}`);
    await say('Another kind', { kind: 'hook_exhausted' });
    await settled();
    expect(titlesAt(slack).sort()).to.equal(['Another kind', 'Number 1', 'Number 2']);
    await tickAfter(5 * MINUTE - 1);
    await settled();
    expect(arrived.length).to.equal(6);
    await tickAfter(1);
    await come(8);
    expect(titlesAt(slack).at(-1)).to.equal('5 more hook messages in 5 minutes');
    await say('Next window');
    await come(10);
    expect(titlesAt(slack).at(-1)).to.equal('Next window');
  });

  it('lets a window that had one message end with that message', async () => {
    await prefer({ digest: { enabled: true } });
    await say('Alone');
    await settled();
    await tickAfter(10 * MINUTE);
    await come(2);
    expect(arrived.map(({ title, kind }) => [title, kind])).to.equal([
      ['Alone', 'hook_notice'],
      ['Alone', 'hook_notice'],
    ]);
  });

  it('puts a storm that ends in quiet hours off until they end', async () => {
    await prefer({ digest: { enabled: true }, quietHours: { ...QUIET, from: '21:05' } });
    await say('One');
    await say('Two');
    await settled();
    await tickAfter(10 * MINUTE);
    await settled();
    expect(arrived).to.equal([]);
    await tickAfter(MORNING - 10 * MINUTE);
    await come(2);
    expect(titlesAt(slack)).to.equal(['2 hook messages in 10 hours']);
  });

  it('loses nothing and counts nothing twice while messages come as the window ends', async () => {
    await prefer({ digest: { enabled: true } });
    const saying = Array.from({ length: 200 }, async (_, n) => {
      await say(`Number ${n}`);
      if (n % 20 === 0) clock.forward(10 * MINUTE);
      await tick();
    });
    await Promise.all(saying);
    await settled();
    await tickAfter(10 * MINUTE);
    await settled();
    const counts = titlesAt(slack).map((title) => Number(/^(\d+) /.exec(title)?.[1] ?? 1));
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(200);
    const held = await desk.test.app.store.db.selectFrom('held_notices').selectAll().execute();
    expect(held).to.equal([]);
  });

  const muteOn = (channelId: string) => ({
    ...{ kind: 'hook_failed', channelId, enabled: false },
  });
  const failing = (name: string): Promise<string> =>
    desk.hook({
      ...{ name, action: 'execute_tool' },
      ...onPath(name),
      actionConfig: { toolId: 'time', toolAction: 'now', toolParams: { timezone: 'Nowhere' } },
    });
});
