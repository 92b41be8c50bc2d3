import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, startApp } from '../harness/app.js';
import { ADA, linkChannel } from '../harness/channel.js';
import { inside } from '../harness/inside.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const MINUTE_MS = 60_000;

describe('channels', () => {
  const clock = frozenClock();
  const test = openForSuite(lab, () => startApp({ clock }));
  let id: string;
  let token: string;

  let count = 0;

  beforeEach(async () => {
    ({ id, token } = await test.register(`ada-${++count}`));
  });
  afterEach(async () => {
    const { db } = test.app.store;
    const left = ['channels', 'link_codes', 'login_failures', 'code_failures'] as const;
    for (const table of left) await db.deleteFrom(table).execute();
    // What is counted by the minute begins anew.
    clock.forward(MINUTE_MS);
  });

  const inMinutes = (minutes: number) => new Date(clock.now() + minutes * MINUTE_MS).toISOString();
  const other = () => test.register(`bob-${count}`);

  const get = (path: string, by = token) => test.call('GET', path, { token: by });
  const post = (path: string, body?: object, by = token) =>
    test.call('POST', path, { token: by, body });
  const makeCode = async () => (await inside(test.app).links.makeCode(ADA)).code;

  it('are linked by the code of a sender, who is shown before', async () => {
    const code = await makeCode();
    const shown = await post('/api/auth/link/preview', { code });
    const who = { kind: 'slack', address: 'T1/U1', name: 'Ada Lovelace' };
    expect([shown.status, shown.body]).to.equal([200, { ...who, expiresAt: inMinutes(5) }]);
    const linked = await post('/api/auth/link', { code: code.toLowerCase() });
    const { id: channelId, ...channel } = linked.body;
    const at = inMinutes(0);
    expect([linked.status, channel]).to.equal([201, { ...who, verifiedAt: at, createdAt: at }]);
    const { body } = await get('/api/channels');
    expect(body).to.equal({ channels: [{ id: channelId, ...channel }], nextCursor: null });
  });

  it('are linked by a code that the user says in the channel', async () => {
    const made = await post('/api/channels/codes');
    const { code, ...rest } = made.body;
    expect([made.status, rest]).to.equal([201, { expiresAt: inMinutes(5) }]);
    await inside(test.app).links.redeemFrom(ADA, code);
    const { body } = await get('/api/channels?kind=slack');
    expect(body.channels.map(({ address }: { address: string }) => address)).to.equal(['T1/U1']);
    expect((await get('/api/channels?kind=teams')).body.channels).to.equal([]);
  });

  it('are told to their owner, and counted where they are verified', async () => {
    const { id: channelId } = await linkChannel(test, id);
    const [told] = (await get('/api/notifications?kind=channel.linked')).body.notifications;
    expect([told.kind, told.title, told.link]).to.equal([
      'channel.linked',
      'Ada Lovelace on slack was linked to your account',
      '/api/channels',
    ]);
    expect(told.body).to.contain(`remove it: adjutant channels delete ${channelId.slice(-6)}`);
    expect((await get('/api/auth/me')).body.channels).to.equal(1);
    const { db } = test.app.store;
    await db
      .updateTable('channels')
      .set({ verified_at: null })
      .where('id', '=', channelId)
      .execute();
    expect((await get('/api/auth/me')).body.channels).to.equal(0);
    expect((await get('/api/channels')).body.channels[0].verifiedAt).to.be.null();
  });

  it('come in pages, the newest first', async () => {
    for (const n of ['1', '2', '3']) await linkChannel(test, id, { ...ADA, id: n, name: n });
    const first = (await get('/api/channels?limit=2')).body;
    const second = (await get(`/api/channels?limit=2&cursor=${first.nextCursor}`)).body;
    const names = [first, second].map(({ channels }) =>
      channels.map(({ name }: { name: string }) => name),
    );
    expect([names, second.nextCursor]).to.equal([[['3', '2'], ['1']], null]);
  });

  it('are unlinked: the sender is nobody’s, and may be linked again', async () => {
    const { id: channelId } = await linkChannel(test, id);
    const remove = () => test.call('DELETE', `/api/channels/${channelId}`, { token });
    expect((await remove()).status).to.equal(204);
    expect((await remove()).status).to.equal(404);
    expect(await inside(test.app).links.userOf(ADA)).to.be.null();
    const bob = await other();
    await linkChannel(test, bob.id);
    expect(await inside(test.app).links.userOf(ADA)).to.equal(bob.id);
  });

  it('are hidden from strangers', async () => {
    const { id: channelId } = await linkChannel(test, id);
    const bob = await other();
    expect((await get('/api/channels', bob.token)).body.channels).to.equal([]);
    for (const [method, path] of [
      ['DELETE', `/api/channels/${channelId}`],
      ['POST', `/api/channels/${channelId}/test`],
    ] as const) {
      const { status, body } = await test.call(method, path, { token: bob.token });
      expect([status, body.message]).to.equal([404, 'Channel not found']);
    }
    expect((await get('/api/channels')).body.channels.length).to.equal(1);
  });

  it('say how a test ended: not, where the platform is not set up', async () => {
    const { id: channelId } = await linkChannel(test, id);
    const { status, body } = await post(`/api/channels/${channelId}/test`);
    const { sendingId, ...rest } = body;
    const error =
      'slack is not configured. An admin can configure it with: adjutant platforms set slack';
    expect([status, rest]).to.equal([202, { status: 'failed', receipt: null, error }]);
    expect(sendingId).to.match(/^sending_/);
    expect((await post('/api/channels/channel_none/test')).status).to.equal(404);
  });

  describe('a code', () => {
    it('is refused where it is wrong, used or over', async () => {
      const refusal = async (code: string) => {
        const { status, body } = await post('/api/auth/link', { code });
        return [status, body.code];
      };
      const used = await makeCode();
      await post('/api/auth/link', { code: used });
      const { body } = await post('/api/channels/codes');
      for (const code of [used, 'AAAAAA', body.code]) {
        expect(await refusal(code)).to.equal([404, 'wrong_code']);
      }
    });

    it('has one winner, of two accounts at once and of one that asks twice', async () => {
      const bob = await other();
      const code = await makeCode();
      const asked = [token, bob.token, token, bob.token].map((by) =>
        post('/api/auth/link', { code }, by),
      );
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      expect(statuses.sort()).to.equal([201, 404, 404, 404]);
      const lists = await Promise.all([token, bob.token].map((by) => get('/api/channels', by)));
      expect(lists.map(({ body }) => body.channels.length).sort()).to.equal([0, 1]);
    });

    it('of a sender who was linked meanwhile is refused as such', async () => {
      const code = await makeCode();
      const row = await linkChannel(test, id, { ...ADA, id: 'another' });
      await test.app.store.db
        .updateTable('channels')
        .set({ sender_id: ADA.id })
        .where('id', '=', row.id)
        .execute();
      const bob = await other();
      const { status, body } = await post('/api/auth/link', { code }, bob.token);
      expect([status, body.code]).to.equal([409, 'already_linked']);
      expect((await get('/api/channels', bob.token)).body.channels).to.equal([]);
    });

    it('is one for each user', async () => {
      const first = await post('/api/channels/codes');
      const second = await post('/api/channels/codes');
      const { links } = inside(test.app);
      await expect(links.redeemFrom(ADA, first.body.code)).to.reject(/The code is invalid/);
      expect((await links.redeemFrom(ADA, second.body.code)).user_id).to.equal(id);
    });

    it('cannot be guessed: wrong ones count like wrong passwords, looks included', async () => {
      const right = await makeCode();
      const statuses: number[] = [];
      for (const path of ['preview', '', 'preview', '', 'preview', '']) {
        const { status } = await post(`/api/auth/link/${path}`, { code: 'AAAAAA' });
        statuses.push(status);
      }
      expect(statuses).to.equal([404, 404, 404, 404, 404, 429]);
      const late = await post('/api/auth/link', { code: right });
      expect([late.status, late.body.code]).to.equal([429, 'too_many_logins']);
      await test.restart();
      expect((await post('/api/auth/link', { code: right })).status).to.equal(429);
      clock.forward(2000);
      expect((await post('/api/auth/link', { code: right })).status).to.equal(201);
    });

    it('is for the person alone, not for a personal access token', async () => {
      const made = await post('/api/auth/tokens', { name: 'script' });
      for (const path of ['/api/channels/codes', '/api/auth/link', '/api/auth/link/preview']) {
        const { status, body } = await post(path, { code: 'AAAAAA' }, made.body.token);
        expect([path, status, body.code]).to.equal([path, 403, 'personal_only']);
      }
      expect((await get('/api/channels', made.body.token)).status).to.equal(200);
    });

    it('is not kept for an Idempotency-Key', async () => {
      const ask = () =>
        test.call('POST', '/api/channels/codes', { token, headers: { 'idempotency-key': 'a' } });
      const [first, second] = [await ask(), await ask()];
      expect(first.body.code).to.not.equal(second.body.code);
    });
  });
});
