import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, PASSWORD } from '../../harness/app.js';
import { seedPasskey } from '../../harness/passkey.js';
import { type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const PUBLIC = 'https://hooks.example.org';
const SSH = { provider: 'ssh', target: 'ada@box', remotePort: 8305, publicUrl: PUBLIC };

describe('the tunnel', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await startStage({}, frozenClock());
  });
  afterEach(() => stage.stop());

  const put = (body: unknown) => stage.ask('PUT', '/api/tunnel', body);
  const port = () => Number(new URL(stage.url).port);

  it('is nothing until it is set up', async () => {
    const { status, body } = await stage.ask('GET', '/api/tunnel');
    expect(status).to.equal(200);
    expect(body).to.equal({
      provider: null,
      publicUrl: null,
      publicUrlSetting: false,
      address: null,
      reach: 'none',
      tokenSet: false,
      credentialId: null,
      on: false,
      status: 'off',
      since: null,
      detail: null,
      pid: null,
      restarts: 0,
      nextTryAt: null,
      addressHeader: null,
      upstream: `127.0.0.1:${port()}`,
      check: null,
      log: [],
    });
    for (const verb of ['start', 'stop', 'check']) {
      const refused = await stage.ask('POST', `/api/tunnel/${verb}`);
      expect([refused.status, refused.body.code]).to.equal([409, 'tunnel_not_set_up']);
    }
    const address = await stage.call('GET', '/api/tunnel/address', { token: stage.user });
    expect(address.body).to.equal({
      ...{ address: null, isTemporary: false, publicUrlSetting: false, reach: 'none' },
    });
  });

  it('by a proxy is on as soon as it is switched on, and its word is taken from then on', async () => {
    const set = await put({ provider: 'proxy', publicUrl: `${PUBLIC}/` });
    expect(set.body).to.include({
      ...{ provider: 'proxy', publicUrl: PUBLIC, address: PUBLIC, on: false, status: 'off' },
      ...{ addressHeader: 'x-forwarded-for', passkeysLost: [] },
    });
    const login = async () => {
      await stage.call('POST', '/api/auth/login', {
        body: { username: 'user', password: PASSWORD },
        headers: { 'x-forwarded-for': '198.51.100.7' },
      });
      const { body } = await stage.ask('GET', '/api/admin/audit?action=auth.login&limit=1');
      return body.entries[0].ip;
    };
    expect(await login()).to.equal('127.0.0.1');
    const { body } = await stage.ask('POST', '/api/tunnel/start');
    expect(body).to.include({ on: true, status: 'running' });
    expect(await login()).to.equal('198.51.100.7');
    await stage.ask('POST', '/api/tunnel/stop');
    expect(await login()).to.equal('127.0.0.1');
  });

  it('is kept over a restart', async () => {
    await put({ provider: 'proxy', publicUrl: PUBLIC });
    await stage.ask('POST', '/api/tunnel/start');
    const { body: before } = await stage.ask('GET', '/api/tunnel');
    await stage.restart();
    const { body } = await stage.ask('GET', '/api/tunnel');
    expect(body).to.equal({ ...before, upstream: `127.0.0.1:${port()}` });
  });

  it('takes back what it gave, read-only fields and all', async () => {
    await put(SSH);
    const { body } = await stage.ask('GET', '/api/tunnel');
    expect((await put(body)).status).to.equal(200);
  });

  it('ends that anybody looks local, once it is set up', async () => {
    const metrics = async () => (await stage.call('GET', '/metrics')).status;
    expect(await metrics()).to.equal(200);
    await put({ provider: 'cloudflared' });
    expect(await metrics()).to.equal(401);
    const { status, body } = await stage.call('POST', '/api/auth/register', {
      body: { username: 'mallory', password: PASSWORD },
    });
    expect([status, body.code]).to.equal([403, 'invite_required']);
  });

  it('makes its lasting name a relying party, and lists the passkeys that it takes away', async () => {
    const options = async (host: string) => {
      const login = { username: 'user', password: PASSWORD };
      const { body } = await stage.call('POST', '/api/auth/login', { body: login });
      const { payload } = await stage.app.server.inject({
        ...{ method: 'POST', url: '/api/auth/passkey/register', payload: {} },
        headers: { host, authorization: `Bearer ${body.token}` },
      });
      return JSON.parse(payload).options?.rp.id ?? JSON.parse(payload).code;
    };
    expect(await options('hooks.example.org')).to.equal('no_relying_party');
    await put({ provider: 'proxy', publicUrl: PUBLIC });
    expect(await options('hooks.example.org')).to.equal('hooks.example.org');
    const { id } = (await stage.call('GET', '/api/auth/me', { token: stage.user })).body;
    await seedPasskey(stage, id);
    const db = stage.app.store.db.updateTable('passkeys');
    await db.set({ relying_party: 'hooks.example.org', name: 'key' }).execute();
    const { body } = await put({ provider: 'proxy', publicUrl: 'https://other.example.org' });
    expect(body.passkeysLost).to.equal([
      { username: 'user', name: 'key', relyingParty: 'hooks.example.org' },
    ]);
  });

  it('leaves the address to the setting where that says it', async () => {
    await stage.restart({ publicUrl: PUBLIC });
    const other = await put({ provider: 'proxy', publicUrl: 'https://other.example.org' });
    expect(other.body.details).to.equal([
      { path: 'publicUrl', message: `is already set by ADJUTANT_PUBLIC_URL: ${PUBLIC}` },
    ]);
    const { status, body } = await put({ provider: 'proxy' });
    expect(status).to.equal(200);
    expect(body).to.include({ publicUrl: PUBLIC, publicUrlSetting: true, address: PUBLIC });
    const address = await stage.ask('GET', '/api/tunnel/address');
    expect(address.body).to.include({ address: PUBLIC, publicUrlSetting: true });
  });

  it('prints configurations for its name, its port and files', async () => {
    const config = async (query: string) =>
      (await stage.ask('GET', `/api/tunnel/config?${query}`)).body;
    expect((await config('proxy=caddy')).code).to.equal('no_public_url');
    await put(SSH);
    const { text: caddy } = await config('proxy=caddy');
    expect(caddy).to.contain('\nhooks.example.org {\n').and.to.contain('127.0.0.1:8305');
    const { text: nginx } = await config('proxy=nginx');
    expect(nginx).to.contain('/etc/letsencrypt/live/hooks.example.org/fullchain.pem');
    expect(nginx).to.contain('listen 80;').and.to.contain('proxy_pass http://127.0.0.1:8305;');
    for (const hostile of [
      'certificate=/a;load_module /b.so&key=/k',
      'certificate=relative&key=/k',
      'certificate=%2Fa%0Ab&key=/k',
      'publicUrl=https://a.test/%0Aroot',
      'publicUrl=https://a.test;root',
    ]) {
      expect((await stage.ask('GET', `/api/tunnel/config?proxy=nginx&${hostile}`)).status).to.equal(
        400,
      );
    }
  });

  it('is for admins', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['POST', '/start'],
      ['POST', '/stop'],
      ['POST', '/check'],
      ['GET', '/programs'],
      ['POST', '/host-keys'],
      ['GET', '/config?proxy=caddy'],
    ] as const) {
      const body = method === 'PUT' ? SSH : { target: 'box' };
      const asked = { token: stage.user, ...(method !== 'GET' && { body }) };
      const { status } = await stage.call(method, `/api/tunnel${path}`, asked);
      expect(status, path).to.equal(403);
    }
    expect((await stage.ask('GET', '/api/tunnel')).body.provider).to.be.null();
  });

  const HOSTILE: [string, object, string][] = [
    ['an option as a target', { ...SSH, target: '-oProxyCommand=touch /tmp/x' }, 'target'],
    ['an option behind a user', { ...SSH, target: 'ada@-oProxyCommand=x' }, 'target'],
    ['an option as a user', { ...SSH, target: '-lroot@box' }, 'target'],
    ['a line break in a target', { ...SSH, target: 'box\nProxyCommand x' }, 'target'],
    ['a blank in a target', { ...SSH, target: 'box -oProxyCommand=x' }, 'target'],
    ['shell words in a target', { ...SSH, target: 'box;reboot' }, 'target'],
    ['a command in a target', { ...SSH, target: '$(reboot)' }, 'target'],
    ['a percent sign in a key file', { ...SSH, identityFile: '/home/%u/key' }, 'identityFile'],
    ['a relative key file', { ...SSH, identityFile: '-oProxyCommand=x' }, 'identityFile'],
    ['a line break in a key file', { ...SSH, identityFile: '/a\nb' }, 'identityFile'],
    [
      'a second line in a host key',
      { ...SSH, hostKeys: [`ssh-rsa ${'A'.repeat(40)}\n* x`] },
      'hostKeys',
    ],
    ['marks in a host key', { ...SSH, hostKeys: ['@cert-authority * ssh-rsa AAAA'] }, 'hostKeys'],
    ['no target', { ...SSH, target: undefined }, 'target'],
    ['no port of the forward', { ...SSH, remotePort: undefined }, 'remotePort'],
    ['a port beyond the last', { ...SSH, remotePort: 65_536 }, 'remotePort'],
    [
      'an option as a name',
      { provider: 'cloudflared', name: '--url=x', publicUrl: PUBLIC },
      'name',
    ],
    ['a token with a line break', { provider: 'ngrok', token: 'abcdefgh\nX=1' }, 'token'],
    ['a token for ssh', { ...SSH, token: 'abcdefgh' }, 'token'],
    ['a target for ngrok', { provider: 'ngrok', target: 'box' }, 'target'],
    ['a proxy without a name', { provider: 'proxy' }, 'publicUrl'],
    ['an address with a path', { provider: 'proxy', publicUrl: `${PUBLIC}/x` }, 'publicUrl'],
    [
      'an address with a password',
      { provider: 'proxy', publicUrl: 'https://a:b@c.test' },
      'publicUrl',
    ],
    [
      'an address with a line break',
      { provider: 'proxy', publicUrl: 'https://a\n.test' },
      'publicUrl',
    ],
    [
      'an address that begins as an option',
      { provider: 'proxy', publicUrl: 'https://-a.test' },
      'publicUrl',
    ],
    ['another protocol', { provider: 'proxy', publicUrl: 'file:///etc' }, 'publicUrl'],
    [
      'a temporary address',
      { provider: 'proxy', publicUrl: 'https://a.trycloudflare.com' },
      'publicUrl',
    ],
    ['a program of one’s own', { provider: 'bash' }, 'provider'],
    ['a credential of nobody', { provider: 'ngrok', credentialId: 'credential_1' }, 'credentialId'],
  ];
  it('refuses hostile and useless settings, and names the field', async () => {
    for (const [what, settings, field] of HOSTILE) {
      const { status, body } = await put(settings);
      const paths = body.details?.map(({ path }: { path: string }) => path) ?? [];
      expect([status, paths], what).to.equal([400, [field]]);
    }
    const scan = await stage.ask('POST', '/api/tunnel/host-keys', { target: '-oProxyCommand=x' });
    expect([scan.status, scan.body.details[0].path]).to.equal([400, 'target']);
    expect((await stage.ask('GET', '/api/tunnel')).body.provider).to.be.null();
  });
});
