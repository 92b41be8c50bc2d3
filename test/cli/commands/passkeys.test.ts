import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { seedPasskey } from '../../harness/passkey.js';
import { adjutant } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('auth passkeys', () => {
  let world: World;
  let id: string;
  before(async () => {
    world = await openWorld();
    const me = await world.client.auth.me();
    id = await seedPasskey(world.app, me.id, 'Laptop');
  });
  after(() => world.stop());

  it('are listed', async () => {
    const { code, stdout } = await world.cli(['auth', 'passkeys', 'list']);
    const row = [id, 'Laptop', 'works', 'localhost', '', '2026-03-01T12:00:00.000Z'];
    expect([code, stdout]).to.equal([0, `${row.join('\t')}\n`]);
  });

  it('are deleted by name, once that is confirmed', async () => {
    const unsure = await world.cli(['auth', 'passkeys', 'delete', 'Laptop']);
    expect([unsure.code, unsure.stderr]).to.match(/--yes/);
    const { code } = await world.cli(['auth', 'passkeys', 'rm', 'Laptop', '--yes']);
    const left = await world.cli(['auth', 'passkeys', 'ls'], { terminal: 80 });
    expect([code, left.stdout, left.stderr]).to.equal([
      0,
      '',
      'No passkeys. Add one in a browser: adjutant login --passkey\n',
    ]);
  });

  it('have help', async () => {
    const [verbs, one] = await Promise.all([
      world.cli(['help', 'auth', 'passkeys']),
      world.cli(['help', 'auth', 'passkeys', 'delete']),
    ]);
    expect(verbs.stdout).to.contain('Usage: adjutant auth passkeys <verb> [id] [flags]');
    expect(one.stdout).to.contain('Usage: adjutant auth passkeys delete <passkey>');
  });
});

describe('login --sso', () => {
  it('names an organization without single sign-on before a browser opens', async () => {
    const world = await openWorld();
    const { code, stderr } = await world.cli(['login', '--sso', 'nobody']);
    await world.stop();
    expect([code, stderr]).to.equal([
      1,
      `No organization nobody uses single sign-on at ${world.app.url}.\n` +
        'Ask an admin of your organization for its short name.\n',
    ]);
  });
});

describe('login --passkey', () => {
  it('needs a name with TLS, or this machine', async () => {
    const { code, stderr } = await adjutant(['login', '--passkey', '--server', 'http://10.0.0.1']);
    expect([code, stderr]).to.equal([
      1,
      'Browsers do not allow passkeys at http://10.0.0.1, because it has no TLS.\n' +
        'Use the public address: adjutant login --passkey --server https://…\n',
    ]);
  });
});
