import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Machine, newMachine, newStranger, printed, recordedPid } from './machine.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Finding {
  status: string;
  name: string;
  detail: string;
  remedy?: string;
}

describe('status, logs and doctor', () => {
  let machine: Machine;
  const examine = async (
    ...flags: string[]
  ): Promise<{ code: number | null; problems: Finding[]; all: Finding[] }> => {
    const { code, stdout } = await machine.run(['doctor', '--json', ...flags]);
    const { findings }: { findings: Finding[] } = JSON.parse(stdout);
    return { code, problems: findings.filter(({ status }) => status !== 'ok'), all: findings };
  };

  before(async () => {
    machine = await newMachine();
    writeFileSync(join(machine.folder, 'password'), 'correct horse\n', { mode: 0o600 });
  });
  after(() => machine.clear());

  it('say that nothing runs, and what to do', async () => {
    const { code, problems } = await examine();
    expect(code).to.equal(1);
    const { url } = machine;
    expect(problems).to.equal([
      {
        name: 'daemon',
        status: 'fail',
        detail: `no reply at ${url}`,
        remedy: `adjutant up --port ${new URL(url).port}`,
      },
      {
        name: 'login',
        status: 'warn',
        detail: `not logged in at ${url}`,
        remedy: 'adjutant login, or: adjutant quickstart',
      },
    ]);
    const elsewhere = join(machine.folder, 'my home');
    const { problems: there } = await examine('--home', elsewhere);
    expect(there[0]?.remedy).to.equal(
      `adjutant up --home '${elsewhere}' --port ${new URL(url).port}`,
    );
    const path = join(machine.home, 'logs/daemon.log');
    expect(await machine.run(['logs'])).to.equal({
      code: 1,
      stdout: '',
      stderr:
        `No log yet: ${path} is empty or missing.\n` +
        'Only a background daemon writes this log. Start the daemon: adjutant up\n',
    });
  });

  it('say how a daemon is, in full to those who are logged in', async () => {
    await machine.run(['up']);
    const stranger = await machine.run(['status']);
    expect(stranger.code).to.equal(0);
    expect(stranger.stdout.split('\n')).to.include('database\tok\t');
    await machine.run(['register', 'ada', '--password-file', 'password']);
    const { code, stdout } = await machine.run(['status', '--json']);
    const status = JSON.parse(stdout);
    const { state, ready, pid, parts }: typeof status & { parts: Finding[] } = status;
    expect({ code, state, ready, pid }).to.equal({
      code: 0,
      state: 'running',
      ready: true,
      pid: recordedPid(machine.home),
    });
    const database = parts.find(({ name }: Finding) => name === 'database');
    expect(database?.detail).to.match(/^schema \d+$/);
  });

  it('find nothing wrong where nothing is, confinement aside', async () => {
    const { problems, all } = await examine();
    expect(problems.filter(({ name }) => name !== 'confinement')).to.equal([]);
    expect(all.find(({ name }) => name === 'login')?.detail).to.equal('ada, admin');
  });

  it('find what others can read or reach', async () => {
    const master = join(machine.home, 'keys/master.key');
    const session = join(machine.config, 'session.json');
    chmodSync(machine.home, 0o755);
    for (const file of [master, session]) chmodSync(file, 0o644);
    const { code, problems } = await examine();
    chmodSync(machine.home, 0o700);
    for (const file of [master, session]) chmodSync(file, 0o600);
    const found = problems.filter(({ name }) => name !== 'confinement');
    expect(code).to.equal(1);
    expect(found.map(({ status, name }) => `${status} ${name}`)).to.equal([
      'warn home',
      'fail keys',
      'warn login',
    ]);
    expect(found[0]?.remedy).to.equal(`chmod 700 ${machine.home}`);
  });

  it('mend with --fix what others can read, and say what was done', async () => {
    const master = join(machine.home, 'keys/master.key');
    chmodSync(machine.home, 0o755);
    chmodSync(master, 0o644);
    const { stderr } = await machine.run(['doctor', '--fix']);
    expect(stderr.split('\n').filter((line) => line.startsWith('Repaired'))).to.equal([
      'Repaired: ~/.adjutant is now 0700, was 0755.',
      'Repaired: ~/.adjutant/keys/master.key is now 0600, was 0644.',
    ]);
    expect([statSync(machine.home).mode & 0o777, statSync(master).mode & 0o777]).to.equal([
      0o700, 0o600,
    ]);
    expect((await machine.run(['doctor', '--fix'])).stderr).to.not.contain('Repaired');
  });

  it('tell an admin what only the daemon can see', async () => {
    const { all } = await examine();
    const names = all.map(({ name }) => name);
    expect(names).to.include(['node', 'daemon', 'integrity', 'vault', 'outbox', 'login']);
    expect(names.length).to.equal(new Set(names).size);
  });

  it('give the log to a machine as JSON, and follow it', async () => {
    const { stdout } = await machine.run(['logs', '--last', '2']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).to.equal(2);
    for (const line of lines) expect(JSON.parse(line)).to.be.an.object();
    const following = machine.start(['logs', '-f', '--last', '1']);
    await printed(following, '\n');
    await fetch(`${machine.url}/api/none`, { method: 'POST' });
    await printed(following, '"path":"/api/none"');
    following.kill('SIGINT');
  });

  it('name the server that is in the way', async () => {
    const { server, port } = await newStranger();
    const { problems } = await examine('--server', `http://127.0.0.1:${port}`);
    const { code, stdout } = await machine.run(['status', '--server', `http://127.0.0.1:${port}`]);
    server.close();
    expect({ code, stdout }).to.equal({
      code: 1,
      stdout: `http://127.0.0.1:${port}\tstranger\t\n`,
    });
    expect(problems[0]?.detail).to.match(/, which is not Adjutant$/);
    expect(problems[0]?.remedy).to.equal(`free the port, or: adjutant up --port ${port + 1}`);
  });

  it('find a registration that is open to all', {
    skip: process.platform !== 'linux',
  }, async () => {
    await machine.run(['restart'], { ADJUTANT_REGISTRATION: 'open' });
    const { problems } = await examine();
    const remedy = 'unset ADJUTANT_REGISTRATION, then: adjutant restart';
    expect(problems.find(({ name }) => name === 'registration')?.remedy).to.equal(remedy);
  });
});
