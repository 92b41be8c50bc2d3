import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { readSession } from '../../../src/client/session.js';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const NEXT = 'another horse battery';

describe('auth', () => {
  const world = openForSuite(lab, openWorld);
  let username: string;
  beforeEach(async () => {
    ({ username } = await world.arrive());
  });

  const logIn = (password: string) =>
    world.app.call('POST', '/api/auth/login', { body: { username, password } });

  it('changes the password, asked for at a terminal', async () => {
    await logIn(PASSWORD);
    await world.client.tokens.create({ body: { name: 'ci' } });
    const answers = [PASSWORD, NEXT, NEXT];
    const { code, stderr } = await world.cli(['auth', 'password'], { terminal: 80, answers });
    expect(code).to.equal(0);
    expect(stderr).to.contain('Password changed. Other login sessions ended: 1.\n');
    expect(stderr).to.contain('Tokens that stay valid: 1. List them: adjutant auth tokens list\n');
    expect(stderr).to.not.contain(PASSWORD).and.to.not.contain(NEXT);
    expect((await logIn(NEXT)).status).to.equal(200);
    expect((await world.cli(['whoami'])).code).to.equal(0);
  });

  it('changes the password from files, and says that the old one was wrong', async () => {
    const [old, next] = [await world.file('old', 'not it'), await world.file('next', NEXT)];
    const change = ['auth', 'password', '--password-file', next, '--current-file'];
    const wrong = await world.cli([...change, old]);
    expect([wrong.code, wrong.stderr.split('\n')[0]]).to.equal([1, 'Wrong password.']);
    const right = await world.cli([...change, await world.file('old', PASSWORD), '--json']);
    expect([right.code, JSON.parse(right.stdout)]).to.equal([
      0,
      { sessionsEnded: 0, tokensLeft: 0 },
    ]);
  });

  it('keeps the fresh token of the kept login', async () => {
    const before = readSession(world.app.url);
    const { code, stdout, stderr } = await world.cli(['auth', 'refresh']);
    expect([code, stdout]).to.equal([0, '']);
    expect(stderr).to.match(/^Valid until /);
    const after = readSession(world.app.url);
    expect(after?.username).to.equal(username);
    expect(after?.expiresAt).to.not.equal(before?.expiresAt);
    expect((await world.cli(['whoami'])).code).to.equal(0);
  });

  it('prints the fresh token of any other login', async () => {
    const { token } = (await logIn(PASSWORD)).body;
    const before = readSession(world.app.url);
    const file = await world.file('token', token);
    const { code, stdout } = await world.cli(['auth', 'refresh', '--server-token-file', file]);
    expect(code).to.equal(0);
    const me = await world.app.call('GET', '/api/auth/me', { token: stdout.trimEnd() });
    expect([me.status, readSession(world.app.url)]).to.equal([200, before]);
  });

  it('has help beside that of its groups', async () => {
    const [own, group] = await Promise.all([
      world.cli(['auth', '--help']),
      world.cli(['auth', 'tokens', '--help']),
    ]);
    expect(own.stdout).to.contain('Usage: adjutant auth <verb> [id] [flags]');
    expect(group.stdout).to.contain('Usage: adjutant auth tokens <verb> [id] [flags]');
  });
});

describe('keys rotate', () => {
  it('says what signs now', async () => {
    const world = await openWorld();
    const { code, stdout } = await world.cli(['keys', 'rotate', '--fields', 'key,retired']);
    expect([code, stdout]).to.match(/0,key_[0-9a-z]{26}\t1/);
    expect((await world.cli(['whoami'])).code).to.equal(0);
    await world.stop();
  });
});
