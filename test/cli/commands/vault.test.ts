import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

describe('vault', () => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld();
  });
  afterEach(() => world.stop());

  const vault = (words: string[], stdin?: string) =>
    world.cli(['vault', ...words], stdin === undefined ? {} : { stdin });
  const add = (name: string) => vault(['add', name, '--value-file', '-'], 'the value\n');

  it('stores a value from stdin, and reveals it to the password', async () => {
    const added = await add('github-pat');
    expect([added.code, added.stdout.includes('the value')]).to.equal([0, false]);
    const shown = await vault(['reveal', 'github-pat', '--password-file', '-'], PASSWORD);
    expect([shown.code, shown.stdout]).to.equal([0, 'the value\n']);
    const wrong = await vault(['reveal', 'github-pat', '--password-file', '-'], 'not it');
    expect([wrong.code, wrong.stdout]).to.equal([1, '']);
  });

  it('has no flag that takes a value', async () => {
    const { code, stderr } = await vault(['add', 'x', '--value', 'secret']);
    expect([code, stderr.includes('--value')]).to.equal([2, true]);
  });

  it('lists, shows and changes what it holds', async () => {
    await add('one');
    await vault(['update', 'one', '--allowed-hosts', 'api.github.com']);
    const { stdout } = await vault(['list', '--fields', 'name,version,allowedHosts']);
    expect(stdout).to.equal('one\t1\t["api.github.com"]\n');
    expect((await vault(['get', 'one'])).stdout).to.contain('api.github.com');
  });

  it('says of what has expired, or is due for another value, that it has', async () => {
    await add('one');
    await add('two');
    await vault(['update', 'two', '--rotate-every-days', '30']);
    const states = async () => (await vault(['list', '--fields', 'name,state'])).stdout;
    expect(await states()).to.equal('two\tgood\none\tgood\n');
    await vault(['update', 'one', '--expires-at', '2020-01-31']);
    const before = { rotated_at: '2020-01-01T00:00:00.000Z' };
    await world.app.app.store.db.updateTable('credentials').set(before).execute();
    expect(await states()).to.equal('two\tdue\none\texpired\n');
    const { stderr } = await world.cli(['vault', 'list'], { terminal: 100 });
    expect(stderr).to.equal('A new value: adjutant vault rotate two\n');
  });

  it('rotates to a value that alone goes to stdout', async () => {
    await add('one');
    const made = await vault(['rotate', 'one', '--overlap-minutes', '0']);
    expect(made.stdout).to.match(/^[\w-]{43}\n$/);
    const given = await vault(['rotate', 'one', '--value-file', '-'], 'given');
    expect([given.code, given.stdout]).to.equal([0, '']);
  });

  it('deletes and changes the master key once that is confirmed', async () => {
    await add('one');
    expect((await vault(['rekey'])).stderr).to.contain('--yes');
    expect((await vault(['rekey', '--yes'])).code).to.equal(0);
    expect((await vault(['rm', 'one'])).stderr).to.contain('--yes');
    expect((await vault(['rm', 'one', '--yes'])).code).to.equal(0);
    expect((await vault(['list'])).stdout).to.equal('');
  });
});
