import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('users', () => {
  let world: World;
  let bob: { id: string; token: string };
  before(async () => {
    world = await openWorld();
    bob = await world.app.register('bob');
  });
  after(() => world.stop());

  const rows = async (...words: string[]): Promise<string[][]> => {
    const { stdout } = await world.cli(['users', 'list', '--fields', 'name,role,state', ...words]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
  };

  it('are listed and filtered', async () => {
    expect(await rows()).to.equal([
      ['bob', 'user', 'active'],
      ['ada', 'admin', 'active'],
    ]);
    expect(await rows('--role', 'admin')).to.equal([['ada', 'admin', 'active']]);
    const nobody = await world.cli(['users', 'ls', '--q', 'zzz'], { terminal: 80 });
    expect(nobody.stderr).to.equal('No matching users.\n');
  });

  it('are changed by name', async () => {
    const words = ['users', 'update', 'bob', '--daily-cost-usd', '2.5', '--shell', '--json'];
    const changed = JSON.parse((await world.cli(words)).stdout);
    expect([changed.limits, changed.permissions]).to.equal([
      { dailyCostUsd: 2.5, dailyTokens: null, dailySteps: null },
      { shell: true, mcp: null, index: null, email: null },
    ]);
    const back = await world.cli([
      'users',
      'update',
      bob.id.slice(-8),
      '--daily-cost-usd',
      'null',
      '--data',
      '{"permissions":{"shell":null}}',
      '--json',
    ]);
    expect(JSON.parse(back.stdout).limits).to.equal({
      dailyCostUsd: null,
      dailyTokens: null,
      dailySteps: null,
    });
  });

  it('are disabled once that is confirmed, and enabled again', async () => {
    const unsure = await world.cli(['users', 'disable', 'bob']);
    expect([unsure.code, unsure.stderr]).to.match(/--yes/);
    expect((await world.cli(['users', 'disable', 'bob', '--yes'])).code).to.equal(0);
    expect(await rows('--disabled')).to.equal([['bob', 'user', 'disabled']]);
    const enabled = await world.cli(['users', 'enable', 'bob'], { terminal: 80 });
    expect([enabled.code, enabled.stderr]).to.equal([
      0,
      'Enabled: bob. Their tokens must be created again.\n',
    ]);
  });

  it('keep their last admin, and the reason is told', async () => {
    const { code, stderr } = await world.cli(['users', 'disable', 'ada', '--yes']);
    expect([code, stderr.split('\n', 1)[0]]).to.equal([
      1,
      'This is the last admin. Create another admin first.',
    ]);
  });

  it('are invited with a link on stdout alone', async () => {
    const words = ['invite', '--role', 'admin', '--expires-in-hours', '2'];
    const { code, stdout, stderr } = await world.cli(words, { terminal: 80 });
    expect([code, stdout]).to.match(/^0,http:\S+\/invite#[\w-]{43}\n$/);
    expect(stderr).to.match(
      /^Link for a new account:\nThe link works only on this machine\. For others: adjutant tunnel setup, then\ncreate it again\nWorks once, until [-\d: ]+\. Shown only once\.\n$/,
    );
    const file = await world.file('invite', stdout);
    const register = ['register', 'carla', '--password-file', '-', '--invite-file', file];
    const made = await world.cli(register, { stdin: 'a good password\n' });
    expect([made.code, made.stdout.split('\t').slice(0, 2)]).to.equal([0, ['carla', 'admin']]);
  });

  it('get a link for a new password', async () => {
    const { stdout, stderr } = await world.cli(['users', 'invite', 'bob'], { terminal: 80 });
    expect(stdout).to.match(/\/reset#[\w-]{43}\n$/);
    expect(stderr).to.startWith('Link for a new password:\n');
    const json = await world.cli(['users', 'invite', 'bob', '--json']);
    expect(Object.keys(JSON.parse(json.stdout))).to.equal([
      'inviteToken',
      'url',
      'expiresAt',
      'reach',
    ]);
  });

  it('set a new password with that link, and it works once', async () => {
    const { stdout } = await world.cli(['users', 'invite', 'bob']);
    const link = await world.file('link', stdout);
    const words = ['auth', 'reset', '--link-file', link, '--password-file', '-'];
    const set = await world.cli(words, { stdin: 'a fresh password\n' });
    expect([set.code, set.stdout]).to.equal([0, 'bob\n']);
    const again = await world.cli(words, { stdin: 'another password\n' });
    expect(again.code).to.equal(1);
  });

  it('are acted as with a reason, by a token on stdout alone', async () => {
    const { code } = await world.cli(['users', 'impersonate', 'bob']);
    expect(code).to.equal(2);
    const words = ['users', 'impersonate', 'bob', '--reason', 'ticket 41'];
    const { stdout, stderr } = await world.cli(words, { terminal: 80 });
    expect(stderr).to.startWith('With it you act as bob until ');
    const me = await world.app.call('GET', '/api/auth/me', { token: stdout.trim() });
    expect([me.body.username, me.body.impersonatedBy]).to.equal(['bob', 'carla']);
  });

  it('have help', async () => {
    const { stdout } = await world.cli(['help', 'users']);
    expect(stdout).to.contain('Usage: adjutant users <verb> [id] [flags]');
    expect((await world.cli(['help', 'invite'])).stdout).to.contain('Usage: adjutant invite');
  });
});
