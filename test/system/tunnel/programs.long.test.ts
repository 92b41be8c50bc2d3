import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readProcessMark } from '../../../src/providers/tunnels/child.js';
import { until } from '../../harness/app.js';
import {
  type FakePrograms,
  FUNNEL,
  makeFakePrograms,
  NAMED,
  NGROK,
  QUICK,
} from '../../harness/tunnels/fakeprograms.js';
import { type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const PUBLIC = 'https://hooks.example.org';

describe('a tunnel by a program', () => {
  let programs: FakePrograms;
  let stage: Stage;
  before(async () => {
    programs = await makeFakePrograms();
    stage = await startStage({ cliPath: [programs.folder] });
  });
  after(async () => {
    await stage.stop();
    await programs.remove();
  });
  afterEach(() => stage.ask('POST', '/api/tunnel/stop'));

  const port = () => Number(new URL(stage.url).port);
  const newest = async (name: string) => {
    const started = await programs.started(name);
    const last = started.at(-1);
    if (!last) throw new Error(`${name} was not started`);
    return last;
  };

  it('of cloudflared has a temporary name where none is set', async () => {
    await programs.add('cloudflared', QUICK);
    const state = await stage.open({ provider: 'cloudflared' });
    const { args, env, pid } = await newest('cloudflared');
    const origin = `http://127.0.0.1:${port()}`;
    expect(args).to.equal([
      ...['tunnel', '--no-autoupdate', '--config', '/dev/null', '--url', origin],
    ]);
    expect(Object.keys(env).sort()).to.equal(['HOME', 'LANG', 'PATH']);
    expect(env.HOME).to.equal(homedir());
    const address = `https://words-of-chance-${pid}.trycloudflare.com`;
    expect(state).to.include({
      ...{ provider: 'cloudflared', on: true, status: 'running', pid, address, restarts: 0 },
      ...{ publicUrl: null, addressHeader: 'cf-connecting-ip', tokenSet: false, detail: null },
    });
    const { body } = await stage.call('GET', '/api/tunnel/address', { token: stage.user });
    expect(body).to.equal({
      address,
      isTemporary: true,
      publicUrlSetting: false,
      reach: 'unverified',
    });
    const { body: invite } = await stage.ask('POST', '/api/admin/users/new/invite', {});
    expect(invite.url).to.contain(`${address}/invite#`);
    const { payload } = await stage.app.server.inject({
      ...{ method: 'POST', url: '/api/auth/passkey/register', payload: {} },
      headers: { host: new URL(address).host, authorization: `Bearer ${stage.admin}` },
    });
    expect(JSON.parse(payload).code).to.equal('no_relying_party');
  });

  it('of cloudflared is named by a token, which no list of processes and no log shows', async () => {
    const token = 'eyJhIjoiY2FuYXJ5LXRva2VuIn0=';
    await programs.add('cloudflared', [`2026-03-01T12:00:00Z INF using ${token}`, ...NAMED]);
    const state = await stage.open({ provider: 'cloudflared', token, publicUrl: PUBLIC });
    const { args, env } = await newest('cloudflared');
    expect(args).to.equal(['tunnel', '--no-autoupdate', 'run']);
    expect(env.TUNNEL_TOKEN).to.equal(token);
    expect(state).to.include({ tokenSet: true, address: PUBLIC, publicUrl: PUBLIC });
    expect(state.log.at(-2).line).to.equal('2026-03-01T12:00:00Z INF using [secret]');
    expect(JSON.stringify(state)).to.not.contain(token);
    const { body } = await stage.ask('GET', '/api/admin/audit?action=tunnel.set');
    expect(JSON.stringify(body)).to.not.contain(token);
    expect(await readFile(`${stage.home}/adjutant.db`, 'latin1')).to.not.contain(token);
    const again = await stage.ask('PUT', '/api/tunnel', {
      provider: 'cloudflared',
      publicUrl: PUBLIC,
    });
    expect(again.body.tokenSet).to.be.true();
    const other = await stage.ask('PUT', '/api/tunnel', { provider: 'ngrok' });
    expect(other.body.tokenSet).to.be.false();
  });

  it('of cloudflared is named by its name, or a token from the vault', async () => {
    await programs.add('cloudflared', NAMED);
    await stage.open({ provider: 'cloudflared', name: 'box', publicUrl: PUBLIC });
    const origin = `http://127.0.0.1:${port()}`;
    expect((await newest('cloudflared')).args.slice(2)).to.equal([
      ...['run', '--url', origin, '--', 'box'],
    ]);
    const { body } = await stage.ask('POST', '/api/vault', { name: 'cf', value: 'from-the-vault' });
    await stage.open({ provider: 'cloudflared', credentialId: body.id, publicUrl: PUBLIC });
    expect((await newest('cloudflared')).env.TUNNEL_TOKEN).to.equal('from-the-vault');
  });

  it('of ngrok tells its address, or is told one', async () => {
    await programs.add('ngrok', NGROK, { on: 'stdout' });
    const token = '2abcDEFghi_jkl';
    const state = await stage.open({ provider: 'ngrok', token });
    expect(state).to.include({ address: 'https://a1b2-192-0-2-1.ngrok-free.app', publicUrl: null });
    const { args, env } = await newest('ngrok');
    expect(args).to.equal([
      ...['http', `http://127.0.0.1:${port()}`, '--log', 'stdout', '--log-format', 'json'],
      '--inspect=false',
    ]);
    expect(env.NGROK_AUTHTOKEN).to.equal(token);
    await stage.open({ provider: 'ngrok', publicUrl: 'https://baz.ngrok.dev/' });
    expect((await newest('ngrok')).args.at(-1)).to.equal('--url=https://baz.ngrok.dev');
  });

  it('of tailscale tells its address', async () => {
    await programs.add('tailscale', FUNNEL, { on: 'stdout' });
    const state = await stage.open({ provider: 'tailscale' });
    expect(state).to.include({
      address: 'https://box.tail1234.ts.net',
      addressHeader: 'x-forwarded-for',
    });
    expect((await newest('tailscale')).args).to.equal([
      ...['funnel', '--yes', `http://127.0.0.1:${port()}`],
    ]);
  });

  it('is started again when it ends, and says why it is not up', async () => {
    const why = 'ERROR: authentication failed: The authtoken you specified is not valid.';
    await programs.add('ngrok', [why], { code: 1 });
    await stage.ask('PUT', '/api/tunnel', { provider: 'ngrok' });
    await stage.ask('POST', '/api/tunnel/start');
    const state = await until(stage.state, ({ restarts }) => restarts === 2);
    expect(state).to.include({ status: 'restarting', pid: null });
    expect(state.detail).to.equal(`the program ended with code 1: ${why}`);
    expect(state.log.map(({ line }: { line: string }) => line)).to.include(why);
    const { body } = await stage.ask('GET', '/health/detailed');
    const part = body.parts.find(({ name }: { name: string }) => name === 'tunnel');
    expect(part.status).to.equal('warn');
    await programs.add('ngrok', NGROK, { on: 'stdout' });
    await until(stage.state, ({ status }) => status === 'running');
  });

  it('says what is not installed', async () => {
    const { body: found } = await stage.ask('GET', '/api/tunnel/programs');
    const row = (name: string) =>
      found.programs.find((each: { name: string }) => each.name === name);
    expect(row('caddy')).to.equal({ name: 'caddy', path: null, version: null });
    expect(row('ngrok')).to.equal({
      ...{ name: 'ngrok', path: `${programs.folder}/ngrok`, version: '2026.3.1' },
    });
    const ssh = { provider: 'ssh', target: 'box', remotePort: 8305, publicUrl: PUBLIC };
    await stage.ask('PUT', '/api/tunnel', ssh);
    await stage.ask('POST', '/api/tunnel/start');
    const state = await until(stage.state, ({ detail }) => detail !== null);
    expect(state.detail).to.match(/^ssh is not installed/);
  });

  it('stops at once, and stays off after a restart of the daemon; on, it comes back', async () => {
    await programs.add('cloudflared', QUICK);
    const { pid } = await stage.open({ provider: 'cloudflared' });
    const { body } = await stage.ask('POST', '/api/tunnel/stop');
    expect(body).to.include({ on: false, status: 'off', pid: null, address: null });
    expect(() => process.kill(pid, 0)).to.throw();
    await stage.restart();
    expect(await stage.state()).to.include({ on: false, status: 'off' });
    const before = await stage.open({ provider: 'cloudflared' });
    await stage.restart();
    expect(() => process.kill(before.pid, 0)).to.throw();
    const after = await until(stage.state, ({ status }) => status === 'running');
    expect(after.pid).to.not.equal(before.pid);
  });

  it('is ended by the next start where a daemon could not end it', async () => {
    await programs.add('cloudflared', QUICK);
    await stage.ask('PUT', '/api/tunnel', { provider: 'cloudflared' });
    const orphan = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    const gone = once(orphan, 'exit');
    const mark = JSON.stringify(await readProcessMark(orphan.pid ?? 0));
    await stage.app.store.db.updateTable('tunnel').set({ process: mark }).execute();
    await stage.restart();
    expect((await gone)[1]).to.equal('SIGKILL');
  });
});
