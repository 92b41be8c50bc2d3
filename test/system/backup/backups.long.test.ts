import { existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../../migrations/all.js';
import { frozenClock, until } from '../../harness/app.js';
import { upload } from '../../harness/upload.js';
import { openStage, PASSPHRASE, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const SCHEMA = migrations.at(-1)?.version;

const HOUR = 3600 * 1000;

describe('backups', () => {
  let stage: Stage;
  const call = (method: string, path: string, body?: object) =>
    stage.app.call(method, `/api/admin/backups${path}`, { token: stage.token, body });
  const newest = async () => (await call('GET', '?limit=1')).body.backups[0];
  const idle = () =>
    until(newest, (found) => found !== undefined && found.status !== 'running', 20_000);

  describe('asked for', () => {
    before(async () => {
      stage = await openStage();
    });
    afterEach(() => stage.clear());
    after(() => stage.stop());

    it('are made with 202, listed, and leave one file', async () => {
      const body = { passphrase: PASSPHRASE, folder: stage.folder };
      const begun = await call('POST', '', body);
      expect([begun.status, begun.body.status, begun.body.made]).to.equal([202, 'running', null]);
      const done = await stage.ended(begun.body.id);
      expect(done).to.include({ kind: 'create', cause: 'asked', status: 'done', error: null });
      expect(done.made).to.include({ schema: SCHEMA, newestDelivery: null, skipped: [] });
      expect(await readdir(stage.folder)).to.equal([done.file.slice(stage.folder.length + 1)]);
      expect(done.made?.bytes).to.equal(readFileSync(done.file).length);
      expect((await call('GET', '')).body.backups).to.equal([done]);
    });

    it('hold the originals of documents, unless they are asked to leave them out', async () => {
      const [original] = (
        await upload(stage.app, stage.token, [{ name: 'a.txt', content: 'Avocets' }])
      ).body.documents;
      await until(
        () => stage.app.call('GET', `/api/documents/${original?.id}`, { token: stage.token }),
        ({ body }) => body.status === 'completed',
        20_000,
      );
      const asked = { passphrase: PASSPHRASE, folder: stage.folder };
      const whole = await stage.made(asked);
      await stage.clear();
      const small = await stage.made({ ...asked, folder: stage.folder, withoutDocuments: true });
      expect(whole.made?.skipped).to.equal([]);
      expect(small.made?.skipped).to.equal(['documents: left out on request']);
      expect(small.made?.files).to.equal(Number(whole.made?.files) - 1);
      const begun = await call('POST', '/verify', { passphrase: PASSPHRASE });
      expect((await stage.ended(begun.body.id)).status).to.equal('done');
    });

    it('are verified by starting them once', async () => {
      const made = await stage.made();
      const begun = await call('POST', '/verify', { passphrase: PASSPHRASE });
      expect(begun.status).to.equal(202);
      const { status, error, proved } = await stage.ended(begun.body.id);
      expect([status, error]).to.equal(['done', null]);
      expect(proved).to.include({ schema: SCHEMA, manifestSha256: made.made?.manifestSha256 });
      expect([Number(proved?.secrets) > 1, Number(proved?.auditEntries) > 1]).to.equal([
        true,
        true,
      ]);
    });

    it('are not good with another passphrase', async () => {
      const { id } = await stage.made();
      const begun = await call('POST', '/verify', { id, passphrase: 'another passphrase' });
      const { status, error } = await stage.ended(begun.body.id);
      expect([status, error]).to.equal(['failed', 'The passphrase is wrong']);
    });

    it('are made one at a time', async () => {
      const body = { passphrase: PASSPHRASE, folder: stage.folder };
      const [first, second] = await Promise.all([call('POST', '', body), call('POST', '', body)]);
      const codes = [first, second].map(({ status, body: { code } }) => code ?? status);
      expect(codes.sort()).to.equal([202, 'backup_running']);
      await idle();
      expect((await readdir(stage.folder)).length).to.equal(1);
    });

    it('can be cancelled, and leave nothing', async () => {
      const { id } = (await call('POST', '', { passphrase: PASSPHRASE, folder: stage.folder }))
        .body;
      const cancelled = await call('POST', `/${id}/cancel`);
      expect([cancelled.status, cancelled.body.status]).to.equal([200, 'cancelled']);
      expect(await readdir(stage.folder)).to.equal([]);
      const again = await call('POST', `/${id}/cancel`);
      expect([again.status, again.body.code]).to.equal([409, 'backup_ended']);
    });

    it('are interrupted by the end of the daemon, and leave nothing', async () => {
      const { id } = (await call('POST', '', { passphrase: PASSPHRASE, folder: stage.folder }))
        .body;
      await stage.app.restart();
      expect((await call('GET', `/${id}`)).body.status).to.equal('interrupted');
      expect(await readdir(stage.folder)).to.equal([]);
    });

    it('are swept where the daemon was killed', async () => {
      const file = join(stage.folder, 'adjutant-20260301-120000.tar');
      for (const part of ['.part', '.part.db']) await writeFile(`${file}${part}`, 'half');
      const id = 'backup_01jcx2kq7m8f3k2a9v5ztw4e6r';
      await stage.app.app.store.db
        .insertInto('backups')
        .values({
          ...{ id, file, kind: 'create', cause: 'asked', status: 'running' },
          ...{ report: null, error: null, finished_at: null, removed_at: null },
          created_at: '2026-03-01T12:00:00.000Z',
        })
        .execute();
      await stage.app.restart();
      expect((await call('GET', `/${id}`)).body.status).to.equal('interrupted');
      expect(await readdir(stage.folder)).to.equal([]);
    });

    it('are the admins’ alone', async () => {
      const { token } = await stage.app.register('bob');
      const { id } = await stage.made();
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['POST', '/verify'],
        ['GET', `/${id}`],
        ['POST', `/${id}/cancel`],
      ] as const) {
        const ask = (as?: string) =>
          stage.app.call(method, `/api/admin/backups${path}`, {
            token: as,
            ...(method === 'POST' && { body: {} }),
          });
        const statuses = [(await ask(token)).status, (await ask()).status];
        expect(statuses, `${method} ${path}`).to.equal([403, 401]);
      }
    });

    it('are refused with a word on what is wrong', async () => {
      const none = await call('POST', '', {});
      expect([none.status, none.body.code]).to.equal([400, 'passphrase_missing']);
      for (const [body, path] of [
        [{ passphrase: 'short' }, 'passphrase'],
        [{ passphrase: PASSPHRASE, folder: 'relative' }, 'folder'],
      ] as const) {
        const { status, body: reply } = await call('POST', '', body);
        expect([status, reply.details[0].path]).to.equal([400, path]);
      }
      const gone = await call('POST', '/verify', { passphrase: PASSPHRASE });
      expect([gone.status, gone.body.code]).to.equal([404, 'backup_gone']);
      const id = 'backup_01jcx2kq7m8f3k2a9v5ztw4e6r';
      expect((await call('GET', `/${id}`)).status).to.equal(404);
    });

    it('fail with a sentence where the folder cannot be written', async () => {
      const folder = join(stage.folder, 'a file');
      await writeFile(folder, '');
      const { status, error } = await stage.made({ passphrase: PASSPHRASE, folder });
      expect(status).to.equal('failed');
      expect(error).to.contain(folder);
    });

    it('keep no passphrase, in no row and no entry', async () => {
      await stage.made();
      const { store } = stage.app.app;
      const rows = await store.db.selectFrom('backups').selectAll().execute();
      const entries = await store.db.selectFrom('audit').selectAll().execute();
      const kept = await store.db.selectFrom('idempotency').selectAll().execute();
      expect(JSON.stringify([rows, entries, kept])).to.not.contain(PASSPHRASE);
      expect(kept).to.equal([]);
    });
  });

  describe('by themselves', () => {
    afterEach(() => stage.stop());

    it('are made at their time, with the passphrase of the settings, and the oldest go', async () => {
      const clock = frozenClock();
      const backup = { backupEvery: 6, backupKeep: 1, backupPassphrase: PASSPHRASE };
      stage = await openStage({ clock, config: backup });
      const first = await idle();
      expect([first.cause, first.status]).to.equal(['scheduled', 'done']);
      clock.forward(5 * HOUR);
      await stage.app.restart();
      expect((await newest()).id).to.equal(first.id);
      clock.forward(HOUR);
      await stage.app.restart();
      const second = await until(newest, ({ id, status }) => id !== first.id && status === 'done');
      const isRemoved = ({ removedAt }: { removedAt: string | null }) => removedAt !== null;
      // The file goes before the row says so.
      const { backups, schedule } = await until(
        async () => (await call('GET', '')).body,
        (list) => list.backups.some(isRemoved),
      );
      expect(backups.map(isRemoved)).to.equal([false, true]);
      expect([first, second].map(({ file }) => existsSync(file))).to.equal([false, true]);
      expect(schedule).to.equal({
        everyHours: 6,
        keep: 1,
        folder: join(stage.app.home, 'backups'),
        isPassphraseSet: true,
        lastAt: second.createdAt,
        nextAt: new Date(Date.parse(second.createdAt) + 6 * HOUR).toISOString(),
      });
    });

    it('have files of their own, even within one second', async () => {
      stage = await openStage({ clock: frozenClock() });
      const files = [await stage.made(), await stage.made()].map(({ status, file }) => {
        expect([status, existsSync(file)]).to.equal(['done', true]);
        return file;
      });
      expect(files[1]).to.equal(files[0]?.replace('.tar', '-2.tar'));
    });

    it('tell the admins where they fail', async () => {
      const config = { backupEvery: 24, backupPassphrase: PASSPHRASE, backupFolder: '/dev/null/x' };
      stage = await openStage();
      await stage.app.restart(config);
      const notices = async () =>
        (await stage.app.call('GET', '/api/notifications', { token: stage.token })).body;
      const found = await until(notices, ({ notifications }) => notifications.length > 0);
      expect(found.notifications[0]).to.include({
        kind: 'backup_failed',
        title: 'A backup failed',
      });
    });

    it('stop the start where nothing seals the keys', async () => {
      stage = await openStage();
      await stage.app.app.close();
      await expect(stage.app.restart({ backupEvery: 24 })).to.reject(
        'ADJUTANT_BACKUP_EVERY requires a passphrase for the keys. Set ADJUTANT_BACKUP_PASSPHRASE_FILE',
      );
      await stage.app.restart();
    });
  });
});
