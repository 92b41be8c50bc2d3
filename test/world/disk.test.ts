import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../migrations/all.js';
import { restoreFile } from '../../src/backup.js';
import { loadMasterKey } from '../../src/secrets/master.js';
import { OpenRefused } from '../../src/store/engine/protocol.js';
import { openWriter } from '../../src/store/thread/database.js';
import { fill, mountTmpfs, whyNoMount } from '../faults/mount.js';
import { type Reply, startApp, until } from '../harness/app.js';
import { startDaemon, startRefused } from '../harness/daemon.js';
import { openStage, PASSPHRASE, type Stage } from '../system/backup/stage.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const noMount = whyNoMount();
const skipped = noMount === null ? '' : ` (skipped: ${noMount})`;
const MOUNTED = { skip: noMount !== null };
const KIB = 1024;

const sentenceOf = (home: string): string => `The disk of ${home} is full. Make room on it`;

describe('a restore', () => {
  let stage: Stage;
  let file: string;
  before(async () => {
    stage = await openStage();
    ({ file } = await stage.made());
  });
  after(() => stage.stop());

  const restore = (home: string) =>
    restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined).done;
  /** Makes a folder with files, and folders that end with a slash. */
  const folderWith = (name: string, entries: string[]): string => {
    const home = join(stage.folder, name);
    for (const entry of entries) {
      mkdirSync(join(home, entry.endsWith('/') ? entry : '.'), { recursive: true });
      if (!entry.endsWith('/')) writeFileSync(join(home, entry), 'kept');
    }
    return home;
  };
  const VOLUME = [
    ...['lost+found/', '.snapshot/', '.snapshots/', '.zfs/', '@eaDir/', '#recycle/', '@Recycle/'],
    ...['System Volume Information/', '.Trash-1000/', '.Spotlight-V100/'],
    ...['.DS_Store', '._.DS_Store', 'Thumbs.db', '.keep', '.gitkeep'],
  ];

  it('leaves what belongs to the volume beside it alone', async () => {
    const home = folderWith('volume', [...VOLUME, '@eaDir/tags']);
    await restore(home);
    expect(existsSync(join(home, 'adjutant.db'))).to.be.true();
    for (const name of VOLUME) expect(existsSync(join(home, name)), name).to.be.true();
    expect(readFileSync(join(home, '@eaDir/tags'), 'utf8')).to.equal('kept');
    const app = await startApp({ home });
    await app.stop();
  });

  it('names what else is there, and changes nothing', async () => {
    const home = folderWith('used', ['lost+found/', 'logs/', 'environment']);
    await expect(restore(home)).to.reject(
      `${home} is not empty: it contains environment, logs. A backup can be restored only into an empty home. Move these files elsewhere first`,
    );
    expect(readdirSync(home).sort()).to.equal(['environment', 'logs', 'lost+found']);
  });

  it('names a few of many, as a terminal can show them', async () => {
    const names = ['a', 'b', 'c', 'd e', 'f', 'g\u001b[31m'];
    const home = folderWith('many', names);
    await expect(restore(home)).to.reject(
      /is not empty: it contains a, b, c, "d e", f and 1 more\. A backup/,
    );
  });

  it(`leaves them there where the disk is full, and says so${skipped}`, MOUNTED, async () => {
    const home = folderWith('small', []);
    mkdirSync(home);
    const unmount = mountTmpfs(home, 1);
    try {
      mkdirSync(join(home, 'lost+found'));
      await expect(restore(home)).to.reject(sentenceOf(home));
      expect(readdirSync(home)).to.equal(['lost+found']);
    } finally {
      unmount();
    }
  });

  it('takes no part of the volume into a backup', async () => {
    mkdirSync(join(stage.app.home, '@eaDir'));
    writeFileSync(join(stage.app.home, '@eaDir/tags'), 'x');
    writeFileSync(join(stage.app.home, '.DS_Store'), 'x');
    writeFileSync(join(stage.app.home, 'notes.txt'), 'mine');
    const { file: other, made } = await stage.made();
    expect(made?.skipped).to.equal([]);
    const home = folderWith('again', ['.DS_Store']);
    await restoreFile({ home, file: other, passphrase: PASSPHRASE }, () => undefined).done;
    expect(readFileSync(join(home, '.DS_Store'), 'utf8')).to.equal('kept');
    expect([existsSync(join(home, '@eaDir')), existsSync(join(home, 'notes.txt'))]).to.equal([
      ...[false, true],
    ]);
  });
});

describe(`a full disk${skipped}`, () => {
  let scratch: string;
  let disk: string;
  let unmount: () => void;
  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'adjutant-full-'));
    disk = join(scratch, 'disk');
    mkdirSync(disk);
    unmount = noMount === null ? mountTmpfs(disk, 20) : () => undefined;
  });
  afterEach(async () => {
    unmount();
    await rm(scratch, { recursive: true });
  });

  for (const left of [0, 16 * KIB, 256 * KIB, 1024 * KIB]) {
    it(
      `is named at a first start with ${left / KIB} KiB, and the home starts with room again`,
      MOUNTED,
      async () => {
        const home = join(disk, 'home');
        const empty = await fill(disk, left);
        const { code, stderr } = await startRefused({ home });
        expect([code, stderr.trim()]).to.equal([1, sentenceOf(home)]);
        await empty();
        const daemon = await startDaemon({ home });
        expect((await daemon.end('SIGTERM')).code).to.equal(0);
        expect(readFileSync(join(home, 'keys/master.key'), 'utf8')).to.match(/^[\w+/]{43}=\n$/);
      },
    );
  }

  it('is named by the API, by doctor and at the next start', MOUNTED, async () => {
    const home = join(disk, 'home');
    const app = await startApp({ home });
    const { token } = await app.register('ada');
    const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
      app.call(method, path, { token, body });
    const empty = await fill(disk);
    const body = { title: 'x'.repeat(400), notes: 'x'.repeat(10_000) };
    const full = await until(
      () => call('POST', '/api/tasks', body),
      ({ status }) => status !== 201,
    );
    const why = 'The disk of the daemon is full. Nothing was changed. Make room on it';
    expect([full.status, full.body.code, full.body.message]).to.equal([
      ...[503, 'storage_unavailable', why],
    ]);
    const look = await call('GET', '/api/admin/doctor');
    expect(look.status).to.equal(200);
    const found = (name: string) =>
      look.body.findings.find((each: Reply['body']) => each.name === name);
    const remedy = 'free disk space: nothing can be stored otherwise';
    expect(found('disk')).to.equal({ name: 'disk', status: 'fail', detail: '0 MiB free', remedy });
    expect(found('database')).to.include({
      status: 'fail',
      detail: 'cannot be written: the disk is full',
    });
    await app.stop();
    const daemon = await startDaemon({ home });
    await empty();
    const ready = async () => (await fetch(`${daemon.url}/health/ready`)).status;
    await until(ready, (status) => status === 200);
    const { code, stdout } = await daemon.end('SIGTERM');
    expect(code).to.equal(0);
    // The stop of the app has emptied the write-ahead log, of at most 4 MB.
    expect(stdout).to.match(
      /\n {2}disk {6}full: [0-4] MiB free\. Deliveries and changes are refused until disk space is freed\n/,
    );
  });

  it('leaves no half snapshot before an upgrade', MOUNTED, async () => {
    const older = migrations.filter(({ version }) => version < 300);
    (await openWriter(disk, older)).db.close();
    const empty = await fill(disk, 64 * KIB);
    await expect(openWriter(disk, migrations)).to.reject(OpenRefused, sentenceOf(disk));
    expect(readdirSync(join(disk, 'snapshots'))).to.equal([]);
    await empty();
    const { db, opened } = await openWriter(disk, migrations);
    db.close();
    expect(opened.snapshot).to.equal(
      `before-${migrations.find(({ version }) => version >= 300)?.version}.db`,
    );
  });
});

describe('an empty key file', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-key-'));
    mkdirSync(join(home, 'keys'));
    writeFileSync(join(home, 'keys/master.key'), '');
  });
  afterEach(() => rm(home, { recursive: true }));

  it('that a full disk left is made anew', () => {
    const path = join(home, 'keys/master.key');
    expect(loadMasterKey(home, null).made).to.equal(path);
    expect(readFileSync(path, 'utf8')).to.match(/^[\w+/]{43}=\n$/);
    expect(readdirSync(join(home, 'keys'))).to.equal(['master.key']);
    expect(loadMasterKey(home, null).made).to.be.null();
  });

  it('is refused beside a database, which is sealed with another', () => {
    writeFileSync(join(home, 'adjutant.db'), 'SQLite format 3\0 and more');
    expect(() => loadMasterKey(home, null)).to.throw(
      OpenRefused,
      /^keys\/master\.key is missing, and the database of this home is sealed with it/,
    );
    expect(readFileSync(join(home, 'keys/master.key'), 'utf8')).to.equal('');
  });
});
