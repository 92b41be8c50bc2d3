import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import { migrations } from '../../../migrations/all.js';
import { restoreFile, verifyFile } from '../../../src/backup.js';
import { openWriter } from '../../../src/store/thread/database.js';
import { openStage, PASSPHRASE } from '../../system/backup/stage.js';
import { atCrashPoints, type Family, killAt, openTrap, query } from './crashpoints.js';

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const EXECUTABLE = at('../../../../bin/adjutant.js');
const INTERRUPTED = /was interrupted/;

export const backupCrashes: Family = ({ describe, it }, points) => {
  describe('a backup, with kills after its changes', () => {
    it('is complete and listed as done, or interrupted and without a file', async () => {
      const backups = await mkdtemp(join(tmpdir(), 'adjutant-backups-'));
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_BACKUP_PASSPHRASE: PASSPHRASE },
        prepare: async () => undefined,
        round: (n) => {
          const folder = join(backups, `${n}`);
          let created: string | undefined;
          let verified: string | undefined;
          return {
            run: async ({ owner, settled }) => {
              created = (await owner.backups.create({ body: { folder } })).id;
              await settled();
              verified = (await owner.backups.verify({ body: { id: created } })).id;
              await settled();
            },
            verify: async ({ owner }, last) => {
              const list = (await owner.backups.list()).backups;
              const mine = list.filter(({ file }) => file.startsWith(`${folder}/`));
              const creation = mine.find(({ kind }) => kind === 'create');
              const verification = mine.find(({ kind }) => kind === 'verify');
              if (created) expect(creation?.id).to.equal(created);
              if (verified) expect(verification?.id).to.equal(verified);
              const isDone = creation?.status === 'done';
              const files = await readdir(folder).catch(() => []);
              expect(files.length, `${creation?.status}: ${files}`).to.equal(isDone ? 1 : 0);
              if (!isDone && creation) expect(creation.status).to.equal('interrupted');
              if (isDone && !verification) {
                const file = { file: creation.file, passphrase: PASSPHRASE };
                await verifyFile(file, () => undefined).done;
              }
              const end = last === null ? /^done$/ : /^(done|interrupted)$/;
              if (verification) expect(verification.status).to.match(end);
              if (last === null) expect([isDone, Boolean(verification)]).to.equal([true, true]);
            },
          };
        },
      }).finally(() => rm(backups, { recursive: true }));
      expect(changes).to.include(['fsync', 'rename', 'reply POST /api/admin/backups']);
      expect(changes).to.include('reply POST /api/admin/backups/verify');
    });
  });

  describe('a restore, with kills after its changes', () => {
    it('leaves a home that no daemon starts with until it is complete', async () => {
      const trap = await openTrap();
      const stage = await openStage();
      const { file } = await stage.made();
      let homes = 0;
      try {
        const changes = await killAt(points, async (point) => {
          const home = join(stage.folder, `home-${++homes}`);
          trap.arm(point);
          await restoreByCommand({ home, file, points: trap.folder });
          trap.disarm();
          await expectRefusedOrComplete(home, file);
          return trap.trace();
        });
        expect(changes).to.include(['fsync', 'commit', 'rename']);
        expect(changes.length).to.be.at.least(10);
      } finally {
        await stage.stop();
        await rm(trap.folder, { recursive: true });
      }
    });
  });
};

const restoreByCommand = async (of: {
  home: string;
  file: string;
  points: string;
}): Promise<void> => {
  const words = ['--home', of.home, 'backup', 'restore', of.file, '--passphrase-file', '-'];
  const command = ['--import', at('./preload.js'), EXECUTABLE, ...words];
  const child = spawn(process.execPath, command, {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH ?? '', CRASH_POINTS: of.points },
  });
  child.stdin.end(PASSPHRASE);
  await once(child, 'exit');
};

const expectRefusedOrComplete = async (home: string, file: string): Promise<void> => {
  if (existsSync(join(home, 'restoring'))) {
    await expect(openWriter(home, migrations)).to.reject(INTERRUPTED);
    const again = restoreFile({ home, file, passphrase: PASSPHRASE }, () => undefined);
    await expect(again.done).to.reject(INTERRUPTED);
    return;
  }
  const { db, opened } = await openWriter(home, migrations);
  db.close();
  expect(opened.isNew).to.be.false();
  expect(query(home, `SELECT count(*) FROM facts WHERE name = 'held_at'`)).to.equal([1]);
  expect(existsSync(join(home, 'keys', 'master.key'))).to.be.true();
};
