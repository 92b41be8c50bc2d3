import { stat } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readSession, sessionFile } from '../../../src/client/session.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const PASSWORD = 'correct horse battery';

const registerIn = (world: World, username: string) =>
  world.cli(['register', username, '--password-file', '-'], { stdin: `${PASSWORD}\n` });

describe('register, login, logout and whoami', () => {
  const world = openForSuite(lab, openWorld);
  let username: string;
  let count = 0;
  beforeEach(async () => {
    username = `newcomer-${++count}`;
    await world.cli(['logout']);
  });

  const register = () => registerIn(world, username);

  it('asks for all of it at a terminal', async () => {
    const answers = [username, PASSWORD, PASSWORD];
    const { code, stdout, stderr } = await world.cli(['register'], { terminal: 80, answers });
    expect([code, stdout]).to.equal([0, '']);
    expect(stderr).to.contain(`Registered as ${username}`);
    expect(stderr).to.not.contain(PASSWORD);
  });

  it('does nothing where the two passwords differ or one is too short', async () => {
    const differ = { terminal: 80, answers: [PASSWORD, 'another password'] };
    expect((await world.cli(['register', username], differ)).stderr).to.contain(
      'The two passwords differ. Nothing was changed. Run the command again.',
    );
    const { code, stderr } = await world.cli(['register', username, '--password-file', '-'], {
      stdin: 'short',
    });
    expect([code, stderr]).to.equal([
      2,
      'Password (at least 8 characters) from -: Enter at least 8 characters.\n',
    ]);
  });

  it('never asks without a terminal', async () => {
    const { code, stderr } = await world.cli(['register', username]);
    expect([code, stderr]).to.equal([
      2,
      'Password (at least 8 characters) is required, but there is no terminal to ask for the value. Add --password-file.\n',
    ]);
  });

  it('logs in for thirty days, and out again at the daemon too', async () => {
    await register();
    const file = await world.file('password', PASSWORD);
    expect((await world.cli(['login', username, '--password-file', file])).code).to.equal(0);
    const kept = readSession(world.app.url);
    const days = (Date.parse(kept?.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).to.equal(30);
    const { code, stderr } = await world.cli(['logout']);
    expect([code, stderr]).to.equal([0, `Logged out at ${world.app.url}.\n`]);
    expect(readSession(world.app.url)).to.be.null();
    const { status } = await world.app.call('GET', '/api/auth/me', { token: kept?.token ?? '' });
    expect(status).to.equal(401);
    expect((await world.cli(['whoami'])).code).to.equal(4);
    expect((await world.cli(['logout'])).stderr).to.equal(
      `You were not logged in at ${world.app.url}.\n`,
    );
  });

  it('says why it did not log in, and keeps nothing', async () => {
    await register();
    await world.cli(['logout']);
    const { code, stderr } = await world.cli(['login', username, '--password-file', '-'], {
      stdin: 'a wrong password',
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Login at http:\S+ failed: .+\nTry again: adjutant login\n$/);
    expect(readSession(world.app.url)).to.be.null();
  });
});

describe('the first account', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld({ isLoggedIn: false });
  });
  afterEach(() => world.stop());

  const register = () => registerIn(world, 'ada');

  it('registers with a password from stdin and keeps the login', async () => {
    const { code, stdout, stderr } = await register();
    expect([code, stdout.split('\t').slice(0, 2)]).to.equal([0, ['ada', 'admin']]);
    expect(stderr).to.match(/^Registered as ada, the admin at http:\S+, until /);
    expect(readSession(world.app.url)?.username).to.equal('ada');
    expect((await stat(sessionFile())).mode & 0o777).to.equal(0o600);
    expect((await world.cli(['whoami', '--fields', 'name'])).stdout).to.equal('ada\n');
  });

  it('says who and where to a person, and the reply with --json', async () => {
    await register();
    const { stdout } = await world.cli(['whoami'], { terminal: 80 });
    expect(stdout).to.equal(`ada, admin, at ${world.app.url}\n`);
    const json = JSON.parse((await world.cli(['whoami', '--json'])).stdout);
    expect([json.username, json.role]).to.equal(['ada', 'admin']);
  });
});
