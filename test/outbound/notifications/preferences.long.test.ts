import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { KINDS } from '../../../src/outbound/noticekinds.js';
import { startApp, type TestApp } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const PATH = '/api/notifications/preferences';
const NEVER_CHOSEN = {
  direct: 'is requested by a hook with notifyOwner and cannot be muted',
  security: 'concerns the security of your account and cannot be muted',
  app: 'is only shown in the app',
};

describe('notification preferences', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  let stranger: { id: string; token: string };
  let channel: string;
  let theirs: string;

  before(async () => {
    app = await startApp();
    owner = await app.register('owner');
    stranger = await app.register('stranger');
    channel = (await linkChannel(app, owner.id)).id;
    const sender = { kind: 'telegram', id: '7', name: 'Mallory' } as const;
    theirs = (await linkChannel(app, stranger.id, sender)).id;
  });
  after(() => app.stop());
  beforeEach(async () => {
    await app.app.store.db.deleteFrom('notification_choices').execute();
    await app.app.store.db.deleteFrom('notification_settings').execute();
  });

  const get = (token = owner.token) => app.call('GET', PATH, { token });
  const put = (body: unknown, token = owner.token) => app.call('PUT', PATH, { token, body });
  const choice = (kind: string, channelId: string | null, enabled: boolean) => ({
    ...{ kind, channelId, enabled },
  });
  const shown = (kind: keyof typeof KINDS, channelId: string | null, enabled: boolean) => ({
    ...{ kind, about: KINDS[kind].about, channelId, enabled },
  });

  it('are that all goes everywhere at once, until somebody says otherwise', async () => {
    const { status, body } = await get();
    const chosen = Object.entries(KINDS).filter(([, { rank }]) => /plain|urgent/.test(rank));
    expect([status, body]).to.equal([
      200,
      {
        kinds: chosen.map(([kind, { about }]) => ({ ...choice(kind, null, true), about })),
        quietHours: { enabled: false, from: '22:00', to: '07:00', timezone: 'UTC' },
        digest: { enabled: false, windowMinutes: 10, threshold: 0 },
        tasks: { reminderMinutes: 15 },
      },
    ]);
  });

  it('are changed part by part, and take back what they show', async () => {
    const hours = { from: '23:30', to: '06:15', timezone: 'Europe/Berlin' };
    await put({ quietHours: { enabled: true, ...hours } });
    await put({ digest: { enabled: true, threshold: 3 } });
    await put({ kinds: [choice('hook_failed', channel, false)] });
    const { body } = await put({ quietHours: { enabled: false } });
    expect(body.quietHours).to.equal({ enabled: false, ...hours });
    expect(body.digest).to.equal({ enabled: true, windowMinutes: 10, threshold: 3 });
    const ofFailures = body.kinds.filter(({ kind }: { kind: string }) => kind === 'hook_failed');
    expect(ofFailures).to.equal([
      shown('hook_failed', null, true),
      shown('hook_failed', channel, false),
    ]);
    expect((await put(body)).body).to.equal(body);
    expect((await get()).body).to.equal(body);
    expect((await put({ kinds: [] })).body.kinds).to.equal(
      body.kinds.filter(({ channelId }: { channelId: string | null }) => channelId === null),
    );
  });

  it('forget the choices of a channel that is unlinked', async () => {
    const sender = { kind: 'mattermost', id: 'm', name: 'Ada' } as const;
    const { id } = await linkChannel(app, owner.id, sender);
    await put({ kinds: [choice('hook_failed', id, false)] });
    await app.call('DELETE', `/api/channels/${id}`, { token: owner.token });
    const { body } = await get();
    expect(body.kinds.filter(({ channelId }: { channelId: unknown }) => channelId)).to.equal([]);
  });

  it('are nobody’s but their owner’s', async () => {
    await put({ digest: { enabled: true } });
    expect((await get(stranger.token)).body.digest.enabled).to.be.false();
    await put({ digest: { enabled: false } }, stranger.token);
    expect((await get()).body.digest.enabled).to.be.true();
    for (const method of ['GET', 'PUT']) {
      expect((await app.call(method, PATH, { body: undefined })).status).to.equal(401);
    }
  });

  for (const [kind, { rank }] of Object.entries(KINDS)) {
    if (rank === 'plain' || rank === 'urgent') continue;
    it(`refuse a choice about ${kind}`, async () => {
      const { status, body } = await put({ kinds: [choice(kind, null, false)] });
      expect([status, body.details]).to.equal([
        400,
        [{ path: 'kinds.0.kind', message: NEVER_CHOSEN[rank] }],
      ]);
    });
  }

  for (const [what, given, path] of [
    ['an unknown kind', () => ({ kinds: [choice('nope', null, false)] }), 'kinds.0.kind'],
    [
      'a kind of the prototype',
      () => ({ kinds: [choice('toString', null, true)] }),
      'kinds.0.kind',
    ],
    [
      'a channel of another',
      () => ({ kinds: [choice('hook_failed', theirs, false)] }),
      'kinds.0.channelId',
    ],
    [
      'a channel that is not',
      () => ({ kinds: [choice('hook_failed', 'channel_x', true)] }),
      'kinds.0.channelId',
    ],
    [
      'the same choice twice',
      () => ({ kinds: [choice('hook_failed', null, false), choice('hook_failed', null, true)] }),
      'kinds.1',
    ],
    [
      'a change of a channel of another',
      () => ({ kindChanges: [choice('hook_failed', theirs, false)] }),
      'kindChanges.0.channelId',
    ],
    [
      'the same change twice',
      () => ({
        kindChanges: [choice('hook_failed', null, false), choice('hook_failed', null, true)],
      }),
      'kindChanges.1',
    ],
    [
      'an unknown time zone',
      () => ({ quietHours: { enabled: true, timezone: 'Europe/Nowhere' } }),
      'quietHours.timezone',
    ],
    [
      'hours without a length',
      () => ({ quietHours: { enabled: true, from: '07:00' } }),
      'quietHours.to',
    ],
    [
      'a time that no clock shows',
      () => ({ quietHours: { enabled: true, from: '24:00' } }),
      'quietHours.from',
    ],
    [
      'a window of nothing',
      () => ({ digest: { enabled: true, windowMinutes: 0 } }),
      'digest.windowMinutes',
    ],
    [
      'a threshold below nought',
      () => ({ digest: { enabled: true, threshold: -1 } }),
      'digest.threshold',
    ],
    ['a digest that is neither on nor off', () => ({ digest: {} }), 'digest.enabled'],
  ] as const) {
    it(`refuse ${what}, and keep what was`, async () => {
      const before = (await get()).body;
      const { status, body } = await put(given());
      expect([status, body.details[0].path]).to.equal([400, path]);
      expect((await get()).body).to.equal(before);
    });
  }

  it('refuse what is nothing', async () => {
    for (const body of [{}, [], 'x', null, { nope: true }]) {
      expect((await put(body)).status, JSON.stringify(body)).to.equal(400);
    }
  });

  it('keep each of the kinds that are changed at once, with what there was', async () => {
    await put({ kinds: [choice('hook_notice', channel, false)] });
    const kinds = ['hook_failed', 'agent_notice', 'credential_expired', 'backup_failed'] as const;
    await Promise.all(kinds.map((kind) => put({ kindChanges: [choice(kind, null, false)] })));
    await put({ kindChanges: [choice('hook_failed', channel, true)] });
    const { body } = await get();
    for (const kind of kinds) expect(body.kinds).to.include(shown(kind, null, false));
    expect(body.kinds).to.include(shown('hook_notice', channel, false));
    expect(body.kinds).to.include(shown('hook_failed', channel, true));
    await put({ kindChanges: [choice('hook_failed', null, true)] });
    const ofFailures = (await get()).body.kinds.filter(
      ({ kind }: { kind: string }) => kind === 'hook_failed',
    );
    expect(ofFailures).to.equal([shown('hook_failed', null, true)]);
  });

  it('keep each of the parts that are changed at once', async () => {
    const hours = { from: '01:00', to: '02:00', timezone: 'Asia/Tokyo' };
    await Promise.all([
      put({ quietHours: { enabled: true, ...hours } }),
      put({ digest: { enabled: true, threshold: 3 } }),
      put({ kinds: [choice('hook_failed', channel, false)] }),
    ]);
    const { body } = await get();
    expect(body.quietHours).to.equal({ enabled: true, ...hours });
    expect(body.digest).to.equal({ enabled: true, windowMinutes: 10, threshold: 3 });
    expect(body.kinds).to.include(shown('hook_failed', channel, false));
  });

  it('are changed whole by the last of many at once', async () => {
    const many = Array.from({ length: 20 }, (_, n) =>
      put({ kinds: [choice('hook_failed', channel, n % 2 === 0)], digest: digestOf(n) }),
    );
    for (const { status } of await Promise.all(many)) expect(status).to.equal(200);
    const { body } = await get();
    const last = body.digest.windowMinutes - 1;
    const own = body.kinds.find(({ channelId }: { channelId: string }) => channelId === channel);
    expect(own).to.equal(shown('hook_failed', channel, last % 2 === 0));
  });

  const digestOf = (n: number) => ({ enabled: true, windowMinutes: n + 1 });
});
