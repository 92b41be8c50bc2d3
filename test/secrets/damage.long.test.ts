import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { generate } from 'otplib';
import { PASSWORD, type Reply, sign, startApp, type TestApp, until } from '../harness/app.js';
import { openTarget, type Target } from '../harness/target.js';
import { type FakePrograms, makeFakePrograms, NGROK } from '../harness/tunnels/fakeprograms.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

/** In the form of a sealed value, and opened by no key. */
const SEALED = 'e1.AAAA.AAAA';
const SECRET = 'a secret of the hook';

describe('what is sealed and was damaged', () => {
  let app: TestApp;
  let target: Target;
  let programs: FakePrograms;
  let token: string;
  before(async () => {
    programs = await makeFakePrograms();
    await programs.add('ngrok', NGROK, { on: 'stdout' });
  });
  after(() => programs.remove());
  beforeEach(async () => {
    target = await openTarget();
    const config = { egressAllow: [target.address], cliPath: [programs.folder] };
    app = await startApp({ config });
    ({ token } = await app.register('ada'));
  });
  afterEach(async () => {
    await app.stop();
    target.close();
  });

  const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const login = (more: object = {}) =>
    app.call('POST', '/api/auth/login', { body: { username: 'ada', password: PASSWORD, ...more } });
  const me = async (by: string) => (await app.call('GET', '/api/auth/me', { token: by })).status;
  const db = () => app.app.store.db;

  it('as a signing key, logs out those whom its tokens let in, and nobody else', async () => {
    const old = token;
    await ask('POST', '/api/admin/keys/rotate');
    token = (await login()).body.token;
    const retired = db().updateTable('signing_keys').set({ sealed: SEALED });
    await retired.where('retired_at', 'is not', null).execute();
    await app.restart();
    expect([await me(old), await me(token)]).to.equal([401, 200]);
    await db().updateTable('signing_keys').set({ sealed: SEALED }).execute();
    await app.restart();
    expect(await me(token)).to.equal(401);
    const anew = await login();
    expect([anew.status, await me(anew.body.token)]).to.equal([200, 200]);
    await app.restart();
    expect(await me(anew.body.token)).to.equal(200);
  });

  it('as the key of short codes, ends the codes that are under way, and no others', async () => {
    const { code } = (await ask('POST', '/api/channels/codes')).body;
    expect(code).to.match(/^[A-Z2-9]{6}$/);
    const facts = db().updateTable('facts').set({ value: SEALED });
    await facts.where('name', '=', 'code_key').execute();
    await app.restart();
    expect((await ask('POST', '/api/channels/codes')).status).to.equal(201);
    await app.restart();
    expect((await ask('POST', '/api/channels/codes')).status).to.equal(201);
  });

  it('as the secret of an authenticator, is named, and recovery codes go on', async () => {
    const { secret } = (await ask('POST', '/api/auth/totp/setup', {})).body;
    const codeNow = () => generate({ secret, epoch: Math.floor(Date.now() / 1000) });
    const code = await codeNow();
    const [first, second] = (await ask('POST', '/api/auth/totp/enable', { code })).body
      .recoveryCodes;
    await db().updateTable('totp').set({ sealed: SEALED }).execute();
    const refused = await login({ totpCode: await codeNow() });
    expect([refused.status, refused.body.code]).to.equal([401, 'totp_damaged']);
    expect(refused.body.message).to.contain('is damaged. Log in with a recovery code');
    const verified = await ask('POST', '/api/auth/totp/verify', { code: await codeNow() });
    expect([verified.status, verified.body.code]).to.equal([409, 'totp_damaged']);
    await db().deleteFrom('login_failures').execute();
    expect((await login({ totpCode: first })).status).to.equal(200);
    const off = { password: PASSWORD, code: second };
    expect((await ask('POST', '/api/auth/totp/disable', off)).status).to.equal(204);
    expect((await login()).status).to.equal(200);
  });

  it('as the token of a tunnel, keeps its program from starting and says why', async () => {
    await ask('PUT', '/api/tunnel', { provider: 'ngrok', token: 'a-token-of-ngrok' });
    await ask('POST', '/api/tunnel/start');
    const state = async () => (await ask('GET', '/api/tunnel')).body;
    await until(state, ({ status }) => status === 'running');
    await db().updateTable('tunnel').set({ token_sealed: SEALED }).execute();
    await app.restart();
    const { detail } = await until(state, (now) => now.detail !== null);
    expect(detail).to.contain('The token of the tunnel is damaged. Set the token again');
    await ask('PUT', '/api/tunnel', { provider: 'ngrok', token: 'another-token' });
    await ask('POST', '/api/tunnel/start');
    await until(state, ({ status }) => status === 'running');
    await ask('POST', '/api/tunnel/stop');
  });

  it('as the secret of an outgoing webhook, holds its deliveries until it is rotated', async () => {
    const given = { name: 'app', url: target.url, events: ['*'] };
    const { id } = (await ask('POST', '/api/webhooks', given)).body;
    await db().updateTable('webhooks').set({ secret_sealed: SEALED }).execute();
    const tried = await ask('POST', `/api/webhooks/${id}/test`, {});
    expect(tried.status).to.be.below(500);
    expect(tried.text).to.contain('is damaged. Rotate the secret');
    expect((await ask('POST', `/api/webhooks/${id}/rotate-secret`, {})).status).to.equal(200);
    expect((await ask('POST', `/api/webhooks/${id}/test`, {})).text).to.not.contain('damaged');
    expect(target.received.length).to.equal(1);
  });

  it('as the secret of a hook, closes it until it is rotated', async () => {
    const { id } = (
      await ask('POST', '/api/hooks', {
        ...{ name: 'in', trigger: 'webhook', action: 'notify' },
        triggerConfig: { webhookPath: 'in', webhookSecret: SECRET },
        actionConfig: { notifyMessage: 'It came' },
      })
    ).body;
    await db().updateTable('hooks').set({ secret_sealed: SEALED }).execute();
    const { secret } = (await ask('POST', `/api/hooks/${id}/rotate-secret`, {})).body;
    const send = async (by: string) => {
      const headers = { 'x-hub-signature-256': sign(by, '{}') };
      return (await app.call('POST', '/api/webhooks/in', { body: '{}', headers })).status;
    };
    expect([await send(SECRET), await send(secret)]).to.equal([401, 202]);
  });

  it('as a channel of one’s own, fails what is sent there and says why', async () => {
    const { body } = await ask('POST', '/api/channels', { kind: 'webhook', url: target.url });
    const [first] = await target.got(1);
    const { code } = JSON.parse(first?.body ?? '').data;
    const { id } = body.channel;
    await ask('POST', `/api/channels/${id}/verify`, { code });
    await target.got(2);
    await db().updateTable('channels').set({ secret_sealed: SEALED }).execute();
    const tried = await ask('POST', `/api/channels/${id}/test`, {});
    expect(tried.status).to.be.below(500);
    expect(tried.text).to.contain('is damaged. Create the channel again');
    const at = String(Math.floor(Date.now() / 1000));
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': at, 'webhook-signature': 'v1,x' };
    const said = { channelId: id, text: 'hello' };
    const inbound = await app.call('POST', '/api/messenger-webhook', { headers, body: said });
    expect(inbound.status).to.equal(401);
  });

  it('as a credential, is named by all that would use it', async () => {
    const given = { allowedTools: ['http'], allowedHosts: [target.address] };
    const { id } = (await ask('POST', '/api/vault', { name: 'pat', value: 'v', ...given })).body;
    await db().updateTable('credential_versions').set({ sealed: SEALED }).execute();
    const headers = { authorization: '$credential(pat)' };
    const called = await ask('POST', '/api/skills/http/tools/request/execute', {
      arguments: { method: 'GET', url: target.url, headers },
    });
    expect([called.status < 500, called.body.message]).to.equal([
      true,
      'The value of the credential pat is damaged. The owner must rotate the credential.',
    ]);
    const fields = { botToken: '$credential(pat)' };
    const platform = await ask('PUT', '/api/admin/platforms/slack', { fields });
    expect(platform.body.details).to.equal([
      {
        path: 'values.botToken',
        message: 'refers to a credential whose value is damaged. Rotate the credential',
      },
    ]);
    const hook = await ask('POST', '/api/hooks', {
      ...{ name: 'on', trigger: 'webhook', action: 'webhook' },
      triggerConfig: { webhookPath: 'on', webhookSecret: SECRET },
      actionConfig: { webhookUrl: target.url, credentialId: id },
    });
    await ask('POST', `/api/hooks/${hook.body.id}/test`, { payload: {} });
    const runs = await until(
      async () => (await ask('GET', `/api/hooks/${hook.body.id}/executions`)).body.executions,
      ([run]) => run?.status === 'error',
    );
    expect(runs[0].error).to.equal(
      'The credential of this forward is damaged. Rotate the credential',
    );
    expect(target.received).to.equal([]);
  });

  it('as the key of a model, is named where its server is asked what it offers', async () => {
    await ask('POST', '/api/models', {
      ...{
        name: 'mine',
        provider: 'litellm',
        modelId: 'one',
        baseUrl: target.url,
        apiKey: 'a key',
      },
    });
    await db().updateTable('models').set({ key_sealed: SEALED }).execute();
    const { status, body } = await ask('GET', '/api/models/providers/litellm/models');
    expect([status, body.code]).to.equal([409, 'key_damaged']);
    expect(body.message).to.equal(
      'The API key of the model mine is damaged. Set the API key again.',
    );
  });
});
