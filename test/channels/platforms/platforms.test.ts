import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../../harness/app.js';
import { openSlack, SIGNING_SECRET, type Slack, signed } from '../../harness/slack.js';
import { openTelegram, type Telegram } from '../../harness/telegram.js';
import { SLACK_FIELDS, TELEGRAM_FIELDS } from '../receivers/desk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('platforms', () => {
  let test: TestApp;
  let slack: Slack;
  let telegram: Telegram;
  let token: string;
  before(async () => {
    [slack, telegram] = [await openSlack(), await openTelegram()];
    test = await startApp({
      config: { publicUrl: 'https://hooks.example.org/', registration: 'open' },
    });
    ({ token } = await test.register('admin'));
  });
  after(async () => {
    await test.stop();
    slack.close();
    telegram.close();
  });

  const ask = (method: string, path: string, body?: object, by = token) =>
    test.call(method, `/api/admin/platforms${path}`, { token: by, ...(body && { body }) });
  const of = async (kind: string) =>
    (await ask('GET', '')).body.platforms.find((one: { kind: string }) => one.kind === kind);

  it('are all listed, none set up, with what to do', async () => {
    const { status, body } = await ask('GET', '');
    expect([status, body.platforms.map(({ kind }: { kind: string }) => kind)]).to.equal([
      200,
      ['slack', 'teams', 'mattermost', 'discord', 'telegram', 'whatsapp', 'ntfy', 'email'],
    ]);
    const { fields, setup, ...rest } = await of('slack');
    expect(rest).to.equal({
      kind: 'slack',
      baseUrl: 'https://slack.com/api',
      isDefaultUrl: true,
      sends: false,
      receives: false,
      installs: false,
      receiver: 'https://hooks.example.org/api/teamchat-webhook',
      updatedAt: null,
    });
    expect(
      fields.map(({ name, isSet }: { name: string; isSet: boolean }) => [name, isSet]),
    ).to.equal([
      ['botToken', false],
      ['signingSecret', false],
    ]);
    expect(setup.join('\n')).to.include('https://hooks.example.org/api/teamchat-webhook');
  });

  it('keep their secrets to themselves, sealed, over a restart', async () => {
    const set = await ask('PUT', '/slack', { baseUrl: `${slack.baseUrl}/`, values: SLACK_FIELDS });
    expect([set.status, set.body.sends, set.body.receives, set.body.baseUrl]).to.equal([
      200,
      true,
      true,
      slack.baseUrl,
    ]);
    const listed = (await ask('GET', '')).text;
    const row = JSON.stringify(
      await test.app.store.db.selectFrom('platforms').selectAll().execute(),
    );
    const audit = (await test.call('GET', '/api/admin/audit', { token })).text;
    for (const secret of Object.values(SLACK_FIELDS)) {
      for (const text of [set.text, listed, row, audit]) expect(text).to.not.include(secret);
    }
    await test.restart();
    expect((await ask('POST', '/slack/test')).body).to.equal({
      ok: true,
      account: 'adjutant in Analytical Engines',
      error: null,
    });
  });

  it('take a secret from the vault, whose newest value counts while it is named', async () => {
    const keep = (name: string, more: object = {}) =>
      test.call('POST', '/api/vault', { token, body: { name, value: SIGNING_SECRET, ...more } });
    const { id } = (await keep('slack-signing')).body;
    const signingSecret = '$credential(slack-signing)';
    const set = await ask('PUT', '/slack', { values: { ...SLACK_FIELDS, signingSecret } });
    expect([set.status, set.body.receives]).to.equal([200, true]);
    const challenge = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
    const heard = async (secret: string): Promise<number> => {
      const { headers, body } = signed(challenge, Date.now(), secret);
      return (await test.call('POST', '/api/teamchat-webhook', { headers, body, type: null }))
        .status;
    };
    expect(await heard(SIGNING_SECRET)).to.equal(200);
    const value = 'another secret of slack';
    const rotation = { value, overlapMinutes: 0 };
    await test.call('POST', `/api/vault/${id}/rotate`, { token, body: rotation });
    expect([await heard(SIGNING_SECRET), await heard(value)]).to.equal([401, 200]);
    await test.restart();
    expect(await heard(value)).to.equal(200);
    const remove = () => test.call('DELETE', `/api/vault/${id}`, { token });
    expect((await remove()).status).to.equal(409);
    expect(await heard(value)).to.equal(200);
    await ask('PUT', '/slack', { values: { signingSecret: null } });
    expect([(await remove()).status, await heard(value)]).to.equal([204, 401]);
    expect((await of('slack')).receives).to.equal(false);
  });

  it('name the field whose credential cannot be lent', async () => {
    const stranger = await test.register('a-stranger');
    const keep = (name: string, by: string, more: object = {}) =>
      test.call('POST', '/api/vault', { token: by, body: { name, value: 'v', ...more } });
    await keep('not-mine', stranger.token);
    await keep('bound', token, { allowedHosts: ['api.example.org'] });
    for (const [name, fault] of [
      ['nobody', 'does not match any of your credentials'],
      ['not-mine', 'does not match any of your credentials'],
      ['bound', 'refers to a credential that is restricted to certain tools or hosts'],
    ]) {
      const values = { signingSecret: `$credential(${name})` };
      const { status, body } = await ask('PUT', '/slack', { values });
      expect([status, body.details]).to.equal([
        400,
        [{ path: 'values.signingSecret', message: fault }],
      ]);
    }
  });

  it('change by what is given, and lose their secrets with their address', async () => {
    await ask('PUT', '/slack', { baseUrl: slack.baseUrl, values: SLACK_FIELDS });
    const part = (await ask('PUT', '/slack', { values: { signingSecret: null } })).body;
    expect([part.sends, part.receives]).to.equal([true, false]);
    const moved = (await ask('PUT', '/slack', { baseUrl: 'https://slack.example.org/api' })).body;
    expect([moved.sends, moved.receives, moved.isDefaultUrl]).to.equal([false, false, false]);
    const back = (await ask('PUT', '/slack', { baseUrl: null })).body;
    expect([back.baseUrl, back.isDefaultUrl]).to.equal(['https://slack.com/api', true]);
  });

  it('take two changes at once, each whole', async () => {
    await ask('DELETE', '/telegram');
    await Promise.all([
      ask('PUT', '/telegram', { values: { botToken: TELEGRAM_FIELDS.botToken } }),
      ask('PUT', '/telegram', { values: { webhookSecret: TELEGRAM_FIELDS.webhookSecret } }),
    ]);
    const { sends, receives } = await of('telegram');
    expect([sends, receives]).to.equal([true, true]);
  });

  it('are told where to send, with the secret that proves it', async () => {
    await ask('PUT', '/telegram', { baseUrl: telegram.baseUrl, values: TELEGRAM_FIELDS });
    expect((await ask('POST', '/telegram/test')).body).to.include({
      ok: true,
      account: '@adj_bot',
    });
    const url = 'https://hooks.example.org/api/messenger-webhook';
    expect((await ask('POST', '/telegram/install')).body).to.include({ ok: true, account: url });
    expect(telegram.calls).to.equal([
      {
        method: 'setWebhook',
        url,
        secret_token: TELEGRAM_FIELDS.webhookSecret,
        allowed_updates: ['message', 'callback_query'],
      },
    ]);
    expect((await ask('POST', '/slack/install')).status).to.equal(409);
  });

  it('say why they cannot be reached', async () => {
    await ask('PUT', '/slack', { baseUrl: slack.baseUrl, values: { botToken: 'xoxb-wrong' } });
    expect((await ask('POST', '/slack/test')).body).to.equal({
      ok: false,
      account: null,
      error: 'Slack returned invalid_auth',
    });
    await ask('PUT', '/slack', { baseUrl: 'http://127.0.0.1:1', values: SLACK_FIELDS });
    expect((await ask('POST', '/slack/test')).body.error).to.include('refused');
    await ask('DELETE', '/slack');
    expect((await ask('POST', '/slack/test')).body.error).to.equal(
      'slack is not configured. Required fields: botToken',
    );
    expect((await ask('DELETE', '/slack')).status).to.equal(404);
  });

  it('refuse what is no field, no text, no address, and name it', async () => {
    for (const [body, path] of [
      [{ values: { token: 'x' } }, 'values.token'],
      [{ values: { botToken: 7 } }, 'values.botToken'],
      [{ values: { botToken: ' ' } }, 'values.botToken'],
      [{ values: { botToken: 'a\nb' } }, 'values.botToken'],
      [{ values: { webhookSecret: 'short' } }, 'values.webhookSecret'],
      [{ baseUrl: 'ftp://x' }, 'baseUrl'],
      [{ baseUrl: 'http://169.254.169.254/' }, 'baseUrl'],
    ] as const) {
      const reply = await ask('PUT', '/telegram', body);
      expect([reply.status, reply.body.details?.[0]?.path]).to.equal([400, path]);
    }
    expect((await ask('PUT', '/telegram', {})).status).to.equal(400);
    expect((await ask('PUT', '/icq', { baseUrl: null })).status).to.equal(404);
  });

  it('are set by admins alone', async () => {
    const other = (await test.register('bob')).token;
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', '/slack'],
      ['DELETE', '/slack'],
      ['POST', '/slack/test'],
      ['POST', '/telegram/install'],
    ] as const) {
      expect((await ask(method, path, undefined, other)).status).to.equal(403);
      expect((await test.call(method, `/api/admin/platforms${path}`)).status).to.equal(401);
    }
  });
});
