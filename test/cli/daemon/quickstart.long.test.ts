import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openTmux, type Tmux, tmuxMissing } from '../../harness/tmux.js';
import {
  ENTRY,
  isAlive,
  type Machine,
  newMachine,
  newStranger,
  printed,
  recordedPid,
} from './machine.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ACCOUNT = ['--username', 'ada', '--password-file', 'password'];
const hasTools = (): boolean => {
  try {
    for (const [tool, flag] of [['curl', '--version'] as const, ['openssl', 'version'] as const]) {
      execFileSync(tool, [flag]);
    }
    return true;
  } catch {
    return false;
  }
};

describe('quickstart', () => {
  let machine: Machine;
  before(async () => {
    machine = await newMachine();
    writeFileSync(join(machine.folder, 'password'), 'correct horse\n', { mode: 0o600 });
  });
  after(() => machine.clear());

  it('starts nothing that nobody agreed to', async () => {
    const { url } = machine;
    expect(await machine.run(['quickstart', ...ACCOUNT])).to.equal({
      code: 1,
      stdout: '',
      stderr:
        `1/5 Daemon     none at ${url}\nNo daemon is running at ${url}.\n` +
        `Start it: adjutant up --port ${new URL(url).port}, or add --yes to this command\n`,
    });
  });

  it('sets up everything, and prints the line alone on stdout', async () => {
    const { code, stdout, stderr } = await machine.run(['quickstart', '--yes', ...ACCOUNT]);
    expect(code).to.equal(0);
    const steps = stderr.split('\n').filter((line) => /^\d\/5 /.test(line));
    expect(steps).to.equal([
      `1/5 Daemon     none at ${machine.url}`,
      '2/5 Account    not logged in; the first account becomes the admin',
      '3/5 Model      none yet: the built-in digest replies, no language model',
      '4/5 First hook "hello", created: turns a signed webhook into a notification',
      '5/5 Reachable  only from this machine. Webhook senders need a public address.',
    ]);
    expect(stderr).to.match(/^ {4}Sent it a signed test: 202, execution success in [\d.]+ m?s$/m);
    expect(stderr).to.include('Registered as ada, the admin');
    expect(stdout.split('\n').filter((line) => line.includes('curl ')).length).to.equal(1);
    expect(stdout.trimEnd().split('\n').length).to.equal(1);
    expect(statSync(join(machine.config, 'hello.secret')).mode & 0o777).to.equal(0o600);
  });

  it('does nothing twice', async () => {
    const before = await hooks(machine);
    const { code, stderr } = await machine.run(['quickstart']);
    expect(code).to.equal(0);
    expect(stderr.split('\n').filter((line) => /^[124]\/5 /.test(line))).to.equal([
      `1/5 Daemon     running at ${machine.url}`,
      '2/5 Account    logged in as ada',
      '4/5 First hook "hello", already there: turns a signed webhook into a notification',
    ]);
    expect((await hooks(machine)).map(({ id }) => id)).to.equal(before.map(({ id }) => id));
  });

  it('gives the hook a new secret where the old one is lost or wrong', async () => {
    const file = join(machine.config, 'hello.secret');
    rmSync(file);
    expect((await machine.run(['quickstart'])).code).to.equal(0);
    const renewed = readFileSync(file, 'utf8');
    writeFileSync(file, 'not this one\n');
    expect((await machine.run(['quickstart'])).code).to.equal(0);
    expect(readFileSync(file, 'utf8')).to.not.equal(renewed);
  });

  it('prints a line that fires the hook (needs curl and openssl)', {
    skip: !hasTools(),
  }, async () => {
    const { stdout } = await machine.run(['quickstart', '--quiet']);
    const env = { PATH: process.env.PATH, HOME: machine.folder };
    const said = execFileSync('sh', ['-c', stdout], { env, encoding: 'utf8' });
    expect(JSON.parse(said)).to.include({ received: true, accepted: true, hooks: 1 });
    expect(stdout).to.not.include(
      readFileSync(join(machine.config, 'hello.secret'), 'utf8').trim(),
    );
  });

  it('logs in again where the account is there and the login is not', async () => {
    rmSync(join(machine.config, 'session.json'));
    const { code, stderr } = await machine.run(['quickstart', ...ACCOUNT]);
    expect(code).to.equal(0);
    expect(stderr).to.include(
      'A user named ada already exists. Log in.\nLogged in as ada, the admin',
    );
  });

  it('refuses a password that is not the account’s', async () => {
    const session = join(machine.config, 'session.json');
    const kept = readFileSync(session);
    rmSync(session);
    writeFileSync(join(machine.folder, 'wrong'), 'another horse\n', { mode: 0o600 });
    const words = ['quickstart', '--username', 'ada', '--password-file', 'wrong'];
    const { code, stdout, stderr } = await machine.run(words);
    expect({ code, stdout }).to.equal({ code: 1, stdout: '' });
    expect(stderr).to.include(`Login at ${machine.url} failed: Wrong username or password.`);
    mkdirSync(machine.config, { recursive: true });
    writeFileSync(session, kept, { mode: 0o600 });
  });

  it('says so when the hook is disabled', async () => {
    const [hello] = await hooks(machine);
    await machine.run(['hooks', 'disable', 'hello']);
    const { code, stdout, stderr } = await machine.run(['quickstart']);
    expect({ code, stdout }).to.equal({ code: 1, stdout: '' });
    const remedy = `Enable it: adjutant hooks enable ${hello?.id}`;
    expect(stderr.split('\n').slice(-3)).to.equal(['The hook "hello" is disabled.', remedy, '']);
  });

  it('does not take another server for a daemon', async () => {
    const { server, port } = await newStranger();
    const url = `http://127.0.0.1:${port}`;
    const { code, stderr } = await machine.run(['quickstart', '--yes', '--server', url]);
    server.close();
    expect({ code, stderr }).to.equal({
      code: 1,
      stderr: `A program other than Adjutant replies at ${url}.\nFind out which: adjutant doctor\n`,
    });
  });
});

describe('quickstart of a daemon that is not for this machine alone', () => {
  let machine: Machine;
  before(async () => {
    machine = await newMachine();
    writeFileSync(join(machine.folder, 'password'), 'correct horse\n', { mode: 0o600 });
  });
  after(() => machine.clear());
  const env = { ADJUTANT_PUBLIC_URL: 'https://hooks.example.org' };

  it('takes the setup code of the home, and says so at the start', async () => {
    const up = await machine.run(['up'], env);
    const file = join(machine.home, 'setup-code');
    expect(up.stderr).to.include(
      `  setup     the first account requires the code in ${file} (0600)`,
    );
    const code = readFileSync(file, 'utf8').trim();
    expect(`${up.stdout}${up.stderr}`).to.not.include(code);
    const { code: exit, stderr } = await machine.run(['quickstart', ...ACCOUNT], env);
    expect({ exit, stderr }).to.include({ exit: 0 });
    expect(stderr).to.include('Registered as ada, the admin');
    const log = readFileSync(join(machine.home, 'logs/daemon.log'), 'utf8');
    expect(`${stderr}${log}`).to.not.include(code);
    expect(existsSync(file)).to.be.false();
  });
});

describe('register with a setup code', () => {
  let machine: Machine;
  before(async () => {
    machine = await newMachine();
    writeFileSync(join(machine.folder, 'password'), 'correct horse\n', { mode: 0o600 });
  });
  after(() => machine.clear());

  it('reads it from a file, or says which one', async () => {
    const child = machine.start(['serve'], { ADJUTANT_REGISTRATION: 'invite' });
    await printed(child, 'Ready');
    const words = ['register', 'ada', '--password-file', 'password'];
    const without = await machine.run(words);
    expect([without.code, without.stdout]).to.equal([2, '']);
    expect(without.stderr).to.include('Add --setup-code-file <home>/setup-code.');
    const file = join(machine.home, 'setup-code');
    const made = await machine.run([...words, '--setup-code-file', file]);
    expect([made.code, made.stderr.split(' at ', 1)[0]]).to.equal([
      0,
      'Registered as ada, the admin',
    ]);
  });
});

const missing = tmuxMissing();
const onTerminal = 'quickstart on a terminal';

describe(missing === null ? onTerminal : `${onTerminal} (skipped: ${missing})`, {
  skip: missing !== null,
}, () => {
  let machine: Machine;
  let tmux: Tmux;
  before(async () => {
    machine = await newMachine();
    writeFileSync(join(machine.folder, 'password'), 'correct horse\n', { mode: 0o600 });
    const env = {
      HOME: machine.folder,
      XDG_CONFIG_HOME: machine.config.replace(/\/adjutant$/, ''),
      ADJUTANT_URL: machine.url,
      ADJUTANT_PORT: new URL(machine.url).port,
    };
    tmux = await openTmux({ width: 120, height: 60, env });
  });
  after(async () => {
    await tmux?.close();
    await machine.clear();
  });

  it('restarts the daemon, so that each new account needs an invite', async () => {
    const words = `${process.execPath} ${ENTRY} quickstart --username ada --password-file password`;
    await tmux.line(`cd ~; ${words}; echo ended $?`);
    await tmux.wait('Start one now? [Y/n]');
    await tmux.shows('Require an invite for each new account, including programs? [y/N]', 'Enter');
    const open = recordedPid(machine.home);
    await tmux.shows('Invite somebody: adjutant users invite', 'y', 'Enter');
    // An empty answer would install a model.
    const [, later = 'none'] = /(\d+) later/.exec(await tmux.wait(' later')) ?? [];
    await tmux.line(later);
    await tmux.wait('Set one up now? [y/N]');
    const shown = await tmux.shows('ended 0', 'Enter');
    expect(shown).to.include('Later starts read the settings of their shell.');
    expect(shown).to.include('2/5 Account');
    expect(recordedPid(machine.home)).to.not.equal(open);
    expect(isAlive(open)).to.be.false();

    const { code, stderr } = await machine.run(['register', 'bob', '--password-file', 'password']);
    expect(code).to.not.equal(0);
    expect(stderr).to.include('invite');
    const me = await machine.run(['whoami']);
    expect([me.code, me.stdout.includes('ada')]).to.equal([0, true]);
  });
});

const hooks = async (machine: Machine): Promise<{ id: string }[]> =>
  JSON.parse((await machine.run(['hooks', 'list', '--json'])).stdout).hooks;
