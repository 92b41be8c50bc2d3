import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { onPath } from '../harness/hooks.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const STANDARD = `whsec_${Buffer.alloc(24, 'a key').toString('base64')}`;

describe('a credential that something uses', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp({ config: { registration: 'open' } });
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const store = async (name: string, more: object = {}): Promise<string> =>
    (await ask('POST', '/api/vault', { name, value: 'a value', ...more })).body.id;
  const rotate = (id: string, body: object) => ask('POST', `/api/vault/${id}/rotate`, body);

  /** Runs a tool with such parameters beside its address. */
  const calling = (name: string, toolParams: object) => ({
    ...{ name, trigger: 'webhook', ...onPath(name), action: 'execute_tool' },
    actionConfig: {
      ...{ toolId: 'http', toolAction: 'request' },
      toolParams: { method: 'GET', url: 'https://target.example.org/', ...toolParams },
    },
  });

  const users: [string, string, (id: string) => Promise<() => Promise<unknown>>][] = [
    [
      'a forward',
      'on its way',
      async (credentialId) => {
        const { body } = await ask('POST', '/api/hooks', {
          ...{ name: 'on its way', trigger: 'webhook', ...onPath('on-its-way') },
          action: 'webhook',
          actionConfig: { webhookUrl: 'https://target.example.org/', credentialId },
        });
        return () => ask('DELETE', `/api/hooks/${body.id}`);
      },
    ],
    [
      'a tool that names it within an argument',
      'tells',
      async () => {
        const headers = { authorization: 'Bearer $credential(of-tells)' };
        const { body } = await ask('POST', '/api/hooks', calling('tells', { headers }));
        return () => ask('DELETE', `/api/hooks/${body.id}`);
      },
    ],
    [
      'a tool of which it is a whole argument',
      'fills',
      async () => {
        const headers = { authorization: { $credential: 'of-fills' } };
        const { body } = await ask('POST', '/api/hooks', calling('fills', { headers }));
        return () => ask('DELETE', `/api/hooks/${body.id}`);
      },
    ],
    [
      'a platform',
      'platform slack',
      async () => {
        const path = '/api/admin/platforms/slack';
        await ask('PUT', path, { fields: { botToken: '$credential(of-platform-slack)' } });
        return () => ask('PUT', path, { fields: { botToken: null } });
      },
    ],
    [
      'a model',
      'mine',
      async (credentialId) => {
        const model = { name: 'mine', provider: 'openai', modelId: 'one', credentialId };
        await ask('POST', '/api/models', model);
        return () => ask('DELETE', '/api/models/mine');
      },
    ],
    [
      'the tunnel',
      'the tunnel',
      async (credentialId) => {
        await ask('PUT', '/api/tunnel', { provider: 'ngrok', credentialId });
        return () => ask('PUT', '/api/tunnel', { provider: 'ngrok', credentialId: null });
      },
    ],
  ];
  for (const [user, name, use] of users) {
    it(`is not deleted under ${user}, which would stop`, async () => {
      const id = await store(`of-${name.replaceAll(' ', '-')}`);
      const leave = await use(id);
      const { status, body } = await ask('DELETE', `/api/vault/${id}`);
      expect([status, body.code]).to.equal([409, 'credential_in_use']);
      expect(body.message).to.contain(`is used by ${name}. Assign another credential`);
      await leave();
      expect((await ask('DELETE', `/api/vault/${id}`)).status).to.equal(204);
    });
  }

  it('is kept by nobody who names one of their own that is called alike', async () => {
    const id = await store('alike');
    const stranger = await app.register('stranger');
    const headers = { authorization: 'Bearer $credential(alike)' };
    const body = calling('elsewhere', { headers });
    const made = await app.call('POST', '/api/hooks', { token: stranger.token, body });
    await ask('POST', '/api/hooks', calling('near', { headers: { a: '$credential(alike.too)' } }));
    expect([made.status, (await ask('DELETE', `/api/vault/${id}`)).status]).to.equal([201, 204]);
  });

  it('keeps the spelling of Standard Webhooks when a value is made for it', async () => {
    const id = await store('spelt', { type: 'webhook_secret', value: STANDARD });
    const { value } = (await rotate(id, { generate: true })).body;
    expect(value).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await rotate(id, { value: 'plain' });
    expect((await rotate(id, { generate: true })).body.value).to.match(/^[\w-]{43}$/);
  });

  it('takes no key that an outgoing webhook would not have taken', async () => {
    const id = await store('signs', { type: 'webhook_secret', value: STANDARD });
    const webhook = { name: 'app', url: 'https://app.example.org/', events: ['*'] };
    const made = await ask('POST', '/api/webhooks', { ...webhook, credentialId: id });
    expect(made.status).to.equal(201);
    const { status, body } = await rotate(id, { value: 'short' });
    expect([status, body.details[0].path]).to.equal([400, 'value']);
    expect((await ask('GET', `/api/vault/${id}`)).body.version).to.equal(1);
    expect((await rotate(id, { value: 'a plain key of twenty-four' })).status).to.equal(200);
  });
});
