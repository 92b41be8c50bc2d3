import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { restoreFile, verifyFile } from '../../src/backup.js';
import { openStage, PASSPHRASE, type Stage } from '../system/backup/stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const FILLING = 48 * 1024 * 1024;

describe('files that the daemon makes where the umask forbids nothing', () => {
  let stage: Stage;
  let umask: number;
  let target: string;
  const names = new Set<string>();
  const open = new Set<string>();

  before(async () => {
    umask = process.umask(0);
    stage = await openStage();
    target = join(stage.folder, 'backups');
    await mkdir(target, { mode: 0o700 });
    const database = new Database(join(stage.app.home, 'adjutant.db'));
    database
      .prepare("INSERT INTO facts (name, value) VALUES ('filling', ?)")
      .run('x'.repeat(FILLING));
    database.close();
  });
  after(async () => {
    process.umask(umask);
    await stage.stop();
  });

  /** Notes every file below a folder, and those that others may read or write. */
  const look = async (folder: string): Promise<void> => {
    const found = await readdir(folder, { recursive: true }).catch(() => []);
    for (const path of found) {
      const stat = await lstat(join(folder, path)).catch(() => null);
      if (!stat) continue;
      names.add(path);
      if (!stat.isSymbolicLink() && (stat.mode & 0o077) !== 0) {
        open.add(`${path} ${(stat.mode & 0o777).toString(8)}`);
      }
    }
  };
  /** Looks again and again until the work is done, and once more. */
  const lookWhile = async (folders: string[], work: Promise<unknown>): Promise<void> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    while (!isDone) await Promise.all(folders.map(look));
    await done;
    await Promise.all(folders.map(look));
  };

  it('are 0600 from the first byte, in the middle of a backup too', async () => {
    const made = stage.made({ passphrase: PASSPHRASE, folder: target });
    await lookWhile([stage.app.home, target], made);
    expect([...open]).to.equal([]);
    expect([...names].filter((name) => /\.part(\.db)?$/.test(name)).length).to.equal(2);
    expect([...names]).to.include(['adjutant.db', 'adjutant.db-wal', 'lock.db', 'audit.head']);
  });

  it('are 0600 while a backup is verified and restored', async () => {
    const { file } = await stage.made({ passphrase: PASSPHRASE, folder: target });
    await verifyFile({ file, passphrase: PASSPHRASE }, () => undefined).done;
    const home = join(stage.folder, 'restored');
    await lookWhile(
      [home],
      restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined).done,
    );
    expect([...open]).to.equal([]);
    expect([...names]).to.include(['restoring', 'keys/master.key']);
  });

  it('lose the rights that others had to them', async () => {
    const file = join(target, 'x.db');
    await writeFile(file, '', { mode: 0o666 });
    const { makePrivate } = await import('../../src/kernel/private.js');
    makePrivate(file);
    expect((await lstat(file)).mode & 0o777).to.equal(0o600);
  });
});
