import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { addHook, loginOwner, type Owner, registerOwner } from '../../harness/account.js';
import { sign, until } from '../../harness/app.js';
import { type Daemon, startDaemon } from '../../harness/daemon.js';
import { isListening } from '../../harness/tunnels/port.js';
import { type Sshd, sshdMissing, startSshd } from '../../harness/tunnels/sshd.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const missing = sshdMissing();
const SECRET = 'open sesame';
const BODY = '{ "a": 1 }';

describe(`a tunnel by ssh${missing ? ` (skipped: ${missing})` : ''}`, {
  skip: missing !== null,
}, () => {
  let sshd: Sshd;
  let home: string;
  let daemon: Daemon;
  let owner: Owner;

  before(async () => {
    sshd = await startSshd();
    home = await mkdtemp(join(tmpdir(), 'adjutant-ssh-'));
    daemon = await startDaemon({ home, env: { ADJUTANT_RATE_PER_ADDRESS: '3' } });
    owner = await registerOwner(daemon.url);
    const rest = { name: 'in', path: 'in', secret: SECRET, action: 'notify' as const };
    await addHook(owner, { ...rest, actionConfig: { notifyMessage: 'It came' } });
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await sshd.stop();
    await rm(home, { recursive: true, force: true });
  });

  const settings = () => ({
    ...{ provider: 'ssh' as const, target: sshd.target, sshPort: sshd.port },
    ...{ remotePort: sshd.remotePort, identityFile: sshd.identityFile },
    publicUrl: `http://127.0.0.1:${sshd.remotePort}`,
  });
  const setUp = async (more: object) => {
    await owner.tunnel.set({ body: { ...settings(), ...more } });
    return owner.tunnel.start();
  };
  const state = () => owner.tunnel.get();
  const isUp = () => until(state, ({ status }) => status === 'running', 20_000);
  const deliver = async () => {
    const response = await fetch(`http://127.0.0.1:${sshd.remotePort}/api/webhooks/in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(SECRET, BODY) },
      body: BODY,
    });
    return response.status;
  };
  const isThere = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it('trusts no server whose key nobody has looked at', async () => {
    await setUp({});
    const found = await until(state, ({ detail }) => detail !== null, 20_000);
    expect(`${found.detail}`).to.endWith(
      'Host key verification failed. Show the keys of the server with adjutant tunnel host-keys <target>, ' +
        'and accept those that you trust with adjutant tunnel setup.',
    );
    const { hostKeys } = await owner.tunnel['host-keys']({
      body: { target: sshd.target, sshPort: sshd.port },
    });
    const [type, key] = sshd.hostKey.split(' ');
    expect(hostKeys.map(({ key: each }) => each)).to.equal([`${type} ${key}`]);
    expect(hostKeys[0]?.fingerprint).to.match(/^SHA256:[A-Za-z0-9+/]{43}$/);
    const wrong = `ssh-ed25519 ${'A'.repeat(68)}`;
    await setUp({ hostKeys: [wrong] });
    await until(state, ({ detail }) => detail !== null, 20_000);
  });

  it('brings a POST through the forward', async () => {
    await setUp({ hostKeys: [sshd.hostKey.trim()] });
    const up = await isUp();
    expect(up.addressHeader).to.be.null();
    expect(up.upstream).to.equal(`127.0.0.1:${sshd.remotePort}`);
    expect(await deliver()).to.equal(202);
    const commandLine = await readFile(`/proc/${up.pid}/cmdline`, 'utf8');
    expect(commandLine.split('\0').slice(-3)).to.equal(['--', sshd.target, '']);
  });

  it('passes its own check, but for the TLS that is not there', async () => {
    const { ok, stages } = await owner.tunnel.check();
    expect(stages.map(({ name, status }) => `${name} ${status}`)).to.equal([
      ...['name ok', 'certificate warn', 'reaches us ok', 'unsigned ok', 'signed ok', 'exposed ok'],
    ]);
    expect(ok).to.be.true();
  });

  it('sets no limits per address, for it tells none, and says so', async () => {
    const asks = Array.from({ length: 8 }, () => fetch(`${daemon.url}/api/hooks`));
    const answers = (await Promise.all(asks)).map(({ status }) => status);
    expect(new Set(answers)).to.equal(new Set([401]));
    const { parts } = await owner.health.detailed();
    const said = parts.find(({ name }) => name === 'tunnel')?.detail;
    expect(said).to.match(/no client addresses, so limits per address do not apply/);
  });

  it('lets nobody look local: an account takes an invite', async () => {
    const response = await fetch(`${daemon.url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'mallory', password: 'correct horse battery' }),
    });
    expect(response.status).to.equal(403);
    expect(await response.json()).to.include({ code: 'invite_required' });
    expect((await fetch(`${daemon.url}/metrics`)).status).to.equal(401);
  });

  it('is started again when its ssh is killed', async () => {
    const { pid } = await isUp();
    process.kill(pid ?? 0, 'SIGKILL');
    await until(state, (now) => now.restarts > 0 && now.status === 'running', 20_000);
    expect(await deliver()).to.equal(202);
  });

  it('leaves no orphan when the daemon is killed, and comes back with the next', async () => {
    const { pid } = await isUp();
    await daemon.end('SIGKILL');
    await until(
      async () => isThere(pid ?? 0),
      (is) => !is,
    );
    await until(
      () => isListening(sshd.remotePort),
      (is) => !is,
    );
    daemon = await startDaemon({ home });
    owner = await loginOwner(daemon.url);
    expect((await isUp()).pid).to.not.equal(pid);
    expect(await deliver()).to.equal(202);
  });

  it('ends what an earlier daemon left behind, and nothing else of that number', async () => {
    const { pid } = await isUp();
    const db = new Database(join(home, 'adjutant.db'), { timeout: 5000 });
    const mark = JSON.parse(String(db.prepare('SELECT process FROM tunnel').pluck().get()));
    expect(mark.pid).to.equal(pid);
    await daemon.end('SIGTERM');
    expect(isThere(pid ?? 0)).to.be.false();
    const other = { pid: process.pid, began: mark.began };
    db.prepare('UPDATE tunnel SET process = ?').run(JSON.stringify(other));
    daemon = await startDaemon({ home });
    expect(isThere(process.pid)).to.be.true();
    db.close();
  });
});
