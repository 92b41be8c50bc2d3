import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('auth tokens', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

  const tokens = (verb: string, ...words: string[]) =>
    world.cli(['auth', 'tokens', verb, ...words]);

  it('are made, and the token alone goes to stdout', async () => {
    const { code, stdout, stderr } = await tokens('create', 'ci', '--scopes', 'hooks:read');
    expect(code).to.equal(0);
    const token = stdout.trimEnd();
    expect(token).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(stderr).to.match(/^New token, shown only once:\nValid until /);
    const { status } = await world.app.call('GET', '/api/hooks', { token });
    expect(status).to.equal(200);
    expect((await tokens('list')).stdout).to.not.contain(token);
  });

  it('say what one that names no scope may do', async () => {
    const { stderr } = await tokens('create', 'ci');
    expect(stderr).to.contain(
      'It grants all of your rights except approval decisions and admin actions.\n',
    );
  });

  it('are listed', async () => {
    await tokens('create', 'ci', '--scopes', 'hooks:read,agents:read');
    const { stdout } = await tokens('list', '--fields', 'name,scopes,lastUsedAt');
    expect(stdout).to.equal('ci\tagents:read hooks:read\t\n');
    const table = await world.cli(['auth', 'tokens', 'ls'], { terminal: 100 });
    expect(table.stdout).to.match(/^NAME {2,}SCOPES {2,}EXPIRES/);
    expect(table.stdout).to.match(/ci {2,}agents:read hooks:read {2,}in 89 days {2,}never/);
  });

  it('are deleted by name, once that is confirmed', async () => {
    const token = (await tokens('create', 'ci')).stdout.trimEnd();
    expect((await tokens('delete', 'ci')).stderr).to.contain('--yes');
    expect((await tokens('rm', 'ci', '--yes')).code).to.equal(0);
    expect((await world.app.call('GET', '/api/auth/me', { token })).status).to.equal(401);
    const left = await world.cli(['auth', 'tokens', 'list'], { terminal: 80 });
    expect([left.stdout, left.stderr]).to.equal([
      '',
      'No tokens. Create one: adjutant auth tokens create <name>\n',
    ]);
  });

  it('are refused by flag', async () => {
    const { code, stderr } = await tokens('create', 'ci', '--scopes', 'cats:read');
    expect([code, stderr.split('\n').slice(0, 2)]).to.equal([
      2,
      ['Invalid request: one field is invalid.', '  --scopes  is not a known scope: "cats:read"'],
    ]);
  });

  it('take the password where the login is old, and say so where it is wrong', async () => {
    const { db } = world.app.app.store;
    const created_at = '2020-01-01T00:00:00.000Z';
    await db.updateTable('auth_sessions').set({ created_at }).execute();
    const missing = await tokens('create', 'ci');
    expect([missing.code, missing.stderr]).to.match(/--password-file/);
    const create = ['auth', 'tokens', 'create', 'ci', '--password-file', '-'];
    const wrong = await world.cli(create, { stdin: 'not the password' });
    expect([wrong.code, wrong.stderr.split('\n')[0]]).to.equal([1, 'Wrong password.']);
    expect((await world.cli(create, { stdin: PASSWORD })).code).to.equal(0);
  });
});
