import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { adjutant } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const PASSPHRASE = 'a passphrase for keys';
const withFile = ['--passphrase-file', '-'];
const typed = { stdin: `${PASSPHRASE}\n` };

/** One in that folder; the file. */
const createIn = async (world: World, folder: string): Promise<string> => {
  const words = ['backup', 'create', '--to', folder, ...withFile, '--output', 'table'];
  return (await world.cli(words, typed)).stdout.trim();
};

describe('backup', () => {
  const world = openForSuite(lab, openWorld);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-backup-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const create = (): Promise<string> => createIn(world, folder);

  it('makes one and says where it is', async () => {
    const { code, stdout, stderr } = await world.cli(['backup', 'create', '--to', folder], {
      terminal: 100,
      answers: [PASSPHRASE, PASSPHRASE],
    });
    expect(code).to.equal(0);
    expect(stdout.trim()).to.equal(join(folder, (await readdir(folder))[0] ?? ''));
    expect(stderr).to.match(/database \d.* MiB {3}files \d+ {3}keys encrypted {3}manifest sha256:/);
    expect(stderr).to.contain('the daemon kept running');
    expect(stderr).to.not.contain(PASSPHRASE);
  });

  it('asks twice, and takes no short one', async () => {
    const differ = await world.cli(['backup', 'create'], {
      terminal: 100,
      answers: [PASSPHRASE, `${PASSPHRASE}!`],
    });
    expect([differ.code, differ.stderr.includes('The two passphrases differ')]).to.equal([1, true]);
    const short = await world.cli(['backup', 'create', ...withFile], { stdin: 'short' });
    expect(short.code).to.equal(2);
    expect((await world.cli(['backup', 'create'])).stderr).to.contain('Add --passphrase-file.');
    expect((await world.cli(['backup', 'create', '--passphrase', 'x'])).code).to.equal(2);
  });

  it('proves a file without a daemon, and the newest with it', async () => {
    const file = await create();
    const newest = await world.cli(['backup', 'verify', ...withFile, '--output', 'table'], typed);
    expect([newest.code, newest.stdout.split('\n').at(-2)?.slice(0, 9)]).to.equal([0, 'Verified.']);
    await world.app.app.close();
    const { code, stdout } = await adjutant(
      ['backup', 'verify', file, ...withFile, '--output', 'table'],
      typed,
    );
    expect([code, stdout]).to.equal([0, newest.stdout]);
    expect(stdout).to.match(/drill: started a scratch copy, \d+ secrets opened, \d+ audit entries/);
    const wrong = await adjutant(['backup', 'verify', file, ...withFile], { stdin: 'another one' });
    expect([wrong.code, wrong.stderr]).to.equal([
      1,
      'Verification failed: The passphrase is wrong.\n',
    ]);
    await world.app.restart({ port: Number(new URL(world.app.url).port) });
  });

  it('restores into an empty home only', async () => {
    const file = await create();
    const home = join(folder, 'new');
    const restore = () =>
      adjutant(
        ['--home', home, 'backup', 'restore', file, ...withFile, '--output', 'table'],
        typed,
      );
    const { code, stdout, stderr } = await restore();
    expect([code, stdout.startsWith(`Restored to ${home}, as of 20`)]).to.equal([0, true]);
    expect(stderr).to.contain(`Start: adjutant --home ${home} up`);
    expect(existsSync(join(home, 'adjutant.db'))).to.be.true();
    const again = await restore();
    expect([again.code, again.stderr]).to.equal([
      1,
      `Not restored: ${home} is not empty: it contains adjutant.db, audit.head, keys, lock.db. A backup can be restored only into an empty home. Move these files elsewhere first.\n`,
    ]);
  });
});

describe('backups', () => {
  it('lists, cancels and tells of the schedule', async () => {
    const world = await openWorld();
    expect((await world.cli(['backup', 'list'])).stdout).to.equal('');
    await createIn(world, world.app.home);
    const { stdout } = await world.cli(['backup', 'list', '--fields', 'kind,status,cause']);
    expect(stdout).to.equal('create\tdone\tasked\n');
    const id = (await world.cli(['backup', 'list', '--output', 'id'])).stdout.trim();
    const { code, stderr } = await world.cli(['backup', 'cancel', id.slice(-6)]);
    expect([code, stderr.split('\n')[0]]).to.equal([
      1,
      'The backup or verification has already ended.',
    ]);
    const schedule = await world.cli(['backup', 'schedule', '--output', 'table']);
    expect(schedule.stdout).to.equal('No backups are scheduled.\n');
    const wanted = await world.cli([
      'backup',
      'schedule',
      '--daily',
      '--keep',
      '3',
      '--to',
      '/mnt/b',
    ]);
    expect(wanted.stdout).to.equal(
      'ADJUTANT_BACKUP_EVERY=daily\nADJUTANT_BACKUP_KEEP=3\nADJUTANT_BACKUP_FOLDER=/mnt/b\n' +
        'ADJUTANT_BACKUP_PASSPHRASE_FILE=<a file that only the daemon can read>\n',
    );
    const refused = async (...words: string[]) => {
      const { code, stderr } = await world.cli(['backup', 'schedule', ...words]);
      return [code, stderr.split('\n')[0]];
    };
    expect(await refused('--keep', '3')).to.equal([
      2,
      '--keep and --to require --daily or --hours.',
    ]);
    expect(await refused('--daily', '--hours', '6')).to.equal([
      2,
      'Use --daily or --hours, not both.',
    ]);
    expect(await refused('--hours', '9000')).to.equal([
      2,
      '--hours must be a whole number from 1 to 8760 (got "9000")',
    ]);
    await world.stop();
  });
});
