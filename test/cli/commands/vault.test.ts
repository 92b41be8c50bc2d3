import { writeFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('vault', () => {
  const world = openForSuite(lab, openWorld);
  beforeEach(() => world.arrive());

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
    expect([code, ...stderr.trimEnd().split('\n')]).to.equal([
      2,
      "Unknown option '--value'.",
      'Never type a value on the command line: --value-file <file>, or --value-file - for stdin',
      'Help: adjutant vault add --help',
    ]);
    const password = await world.cli(['login', 'ada', '--password', 'secret']);
    expect([password.code, password.stderr.split('\n')[1]]).to.equal([
      2,
      'Never type a password on the command line: --password-file <file>, or --password-file - for stdin',
    ]);
  });

  it('repeats no value that is refused, and takes none that it would change', async () => {
    const long = await world.file('long', 'c4nary'.repeat(12_000));
    const refused = await vault(['add', 'long', '--value-file', long]);
    expect([refused.code, refused.stderr.includes('c4nary')]).to.equal([2, false]);
    expect(refused.stderr).to.contain('value  length must be');
    const bytes = await world.file('bytes', '');
    await writeFile(bytes, Buffer.from([0x30, 0x82, 0xff, 0xfe]));
    const binary = await vault(['add', 'binary', '--value-file', bytes]);
    expect([binary.code, binary.stderr]).to.equal([
      2,
      `Value from ${bytes}: The content is not UTF-8 text. Save text as UTF-8, or binary data as base64 text: base64 ${bytes} > <new file>\n`,
    ]);
    expect((await vault(['list'])).stdout).to.equal('');
  });

  it('asks again for an empty value, and takes no first line for the whole of one', async () => {
    const at = (name: string, answers: string[]) =>
      world.cli(['vault', 'add', name], { terminal: 100, answers });
    const empty = await at('empty', ['', 'the value']);
    expect(empty.stderr).to.equal(
      'Value: ············\nThe value is empty.\nValue: ············\nStored empty.\n',
    );
    const pasted = await at('pasted', ['-----BEGIN KEY-----\nc4nary\n-----END KEY-----']);
    expect([pasted.code, pasted.stderr]).to.equal([
      2,
      'Value: ············\n' +
        'The value has several lines. Pass it with --value-file, or --value-file - for stdin.\n',
    ]);
    expect((await vault(['list', '--fields', 'name'])).stdout).to.equal('empty\n');
  });

  it('keeps what lies between the first and the last line of a file', async () => {
    const key = '-----BEGIN KEY-----\r\n\tc4nary "ü"\r\n-----END KEY-----';
    await vault(['add', 'key', '--value-file', await world.file('key', `${key}\n`)]);
    const shown = await vault(['reveal', 'key', '--password-file', '-'], PASSWORD);
    expect(shown.stdout).to.equal(`${key}\n`);
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
    expect(stderr).to.equal('Rotate it: adjutant vault rotate two\n');
  });

  it('rotates to a value that alone goes to stdout', async () => {
    await add('one');
    const made = await vault(['rotate', 'one', '--generate', '--overlap-minutes', '0']);
    expect(made.stdout).to.match(/^[\w-]{43}\n$/);
    const given = await vault(['rotate', 'one', '--value-file', '-'], 'given');
    expect([given.code, given.stdout]).to.equal([0, '']);
  });

  it('rotates to no value that nobody gave, and restores the one before', async () => {
    await add('one');
    const asked = await vault(['rotate', 'one']);
    expect([asked.code, asked.stdout]).to.equal([2, '']);
    expect(asked.stderr).to.contain('--value-file');
    await vault(['rotate', 'one', '--value-file', '-'], 'wrong');
    const versions = await vault(['versions', 'one', '--fields', 'version']);
    expect(versions.stdout).to.equal('2\n1\n');
    const restored = await vault(['restore', 'one', '--json']);
    expect([restored.code, JSON.parse(restored.stdout).version]).to.equal([0, 3]);
  });

  it('deletes and changes the master key once that is confirmed', async () => {
    world.admin();
    await add('one');
    expect((await vault(['rekey'])).stderr).to.contain('--yes');
    expect((await vault(['rekey', '--yes'])).code).to.equal(0);
    expect((await vault(['rm', 'one'])).stderr).to.contain('--yes');
    expect((await vault(['rm', 'one', '--yes'])).code).to.equal(0);
    expect((await vault(['list'])).stdout).to.equal('');
  });
});
