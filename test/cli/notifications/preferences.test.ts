import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { linkChannel } from '../../harness/channel.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const REMINDERS = 'Task reminders 15 minutes before the due time\n';

describe('notifications preferences', () => {
  let world: World;
  let channel: string;
  before(async () => {
    world = await openWorld();
    const { id } = await world.client.auth.me();
    channel = (await linkChannel(world.app, id)).id;
  });
  after(() => world.stop());
  beforeEach(async () => {
    const off = { enabled: false };
    const body = { kinds: [], quietHours: off, digest: { ...off, threshold: 0 } };
    await world.client.notifications['set-preferences']({ body });
  });

  const set = (...words: string[]) => world.cli(['notifications', 'preferences', ...words]);
  const shown = () => world.client.notifications.preferences();
  const choices = async (kind: string) =>
    (await shown()).kinds
      .filter((one) => one.kind === kind)
      .map(({ channelId, enabled }) => [channelId, enabled]);

  it('are shown as they are, and change nothing', async () => {
    const { code, stdout, stderr } = await set();
    expect(code).to.equal(0);
    expect(stdout).to.contain('hook_failed\tyes\t\tA hook execution failed\n');
    expect(stderr).to.equal(`Quiet hours off\nDigest off\n${REMINDERS}`);
    expect(JSON.parse((await set('--json')).stdout)).to.equal(await shown());
  });

  it('say how long before a task is due one is reminded', async () => {
    expect((await set('--task-reminder', '2h')).stderr).to.match(
      /Task reminders 120 minutes before/,
    );
    expect((await set('--task-reminder', 'off')).stderr).to.match(/No task reminders\n$/);
    expect((await shown()).tasks).to.equal({ reminderMinutes: null });
    expect((await set('--task-reminder', 'soon')).code).to.equal(2);
    await set('--task-reminder', '15m');
  });

  it('are set by flags, each for itself', async () => {
    const quiet = ['--quiet-hours', '22:30-06:00', '--timezone', 'Europe/Berlin'];
    expect((await set(...quiet)).stderr).to.equal(
      `Quiet hours 22:30 to 06:00, Europe/Berlin\nDigest off\n${REMINDERS}`,
    );
    expect((await set('--digest', '2h', '--threshold', '3')).stderr).to.equal(
      `Quiet hours 22:30 to 06:00, Europe/Berlin\nDigest of 120 minutes after the first 3\n${REMINDERS}`,
    );
    await set('--quiet-hours', 'off');
    const { quietHours, digest } = await shown();
    expect(quietHours.enabled).to.be.false();
    expect(digest).to.equal({ enabled: true, windowMinutes: 120, threshold: 3 });
    await set('--timezone', 'Asia/Tokyo', '--digest', 'off');
    expect((await shown()).quietHours).to.include({ enabled: false, timezone: 'Asia/Tokyo' });
    expect((await shown()).digest.enabled).to.be.false();
  });

  it('mute kinds on one channel or on all', async () => {
    await set('--mute', 'hook_failed,hook_notice', '--channel', channel.slice(-6));
    expect(await choices('hook_failed')).to.equal([
      [null, true],
      [channel, false],
    ]);
    await set('--mute', 'hook_failed');
    expect(await choices('hook_failed')).to.equal([[null, false]]);
    expect(await choices('hook_notice')).to.equal([
      [null, true],
      [channel, false],
    ]);
    await set('--unmute', 'hook_failed,hook_notice');
    expect([await choices('hook_failed'), await choices('hook_notice')]).to.equal([
      [[null, true]],
      [[null, true]],
    ]);
  });

  it('mute what several shells mute at once', async () => {
    const kinds = ['hook_failed', 'hook_notice', 'agent_notice', 'credential_expired'];
    const replies = await Promise.all(kinds.map((kind) => set('--mute', kind)));
    expect(replies.map(({ code }) => code)).to.equal([0, 0, 0, 0]);
    for (const kind of kinds) expect(await choices(kind)).to.equal([[null, false]]);
  });

  for (const [why, words, says] of [
    ['hours that are none', ['--quiet-hours', '22-7'], '22:00-07:00'],
    ['a window that is none', ['--digest', 'soon'], '--digest must be a time'],
    [
      'a threshold that is none',
      ['--threshold', 'few'],
      '--threshold must be a whole number from 0 to 1000 (got "few")',
    ],
    ['a kind that there is not', ['--mute', 'nope'], 'must be one of: approval_requested'],
    ['what cannot be muted', ['--mute', 'token.created'], 'cannot be muted'],
    ['a zone that there is not', ['--timezone', 'Nowhere'], 'must be a time zone'],
    [
      'a channel and nothing about it',
      ['--channel', 'abcdef'],
      '--channel selects the channel to mute or unmute. Add --mute or --unmute with the kinds of notifications',
    ],
  ] as const) {
    it(`refuse ${why}`, async () => {
      const before = await shown();
      const { code, stderr } = await set(...words);
      expect([code, stderr]).to.equal([2, stderr]);
      expect(stderr).to.contain(says);
      expect(await shown()).to.equal(before);
    });
  }
});
