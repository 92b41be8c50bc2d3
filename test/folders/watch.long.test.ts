import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { loadTreeWatch } from '../../src/folders/treewatch.js';
import { createFolderWatcher } from '../../src/folders/watcher.js';
import { systemClock } from '../../src/kernel/clock.js';
import { createLog } from '../../src/kernel/log.js';
import type { KnowledgeFolderRow } from '../../src/store/tables/folders.js';
import { until, untilAtLeast } from '../harness/app.js';
import { type FolderStage, openFolderStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

/** Returns how many files and folders this process has the system watch. */
const watches = async (): Promise<number> => {
  const texts = (await readdir('/proc/self/fdinfo')).map((name) =>
    readFile(`/proc/self/fdinfo/${name}`, 'utf8').catch(() => ''),
  );
  return (await Promise.all(texts)).join('\n').match(/^inotify wd/gm)?.length ?? 0;
};

describe('the watch of a folder', { skip: process.platform !== 'linux' }, () => {
  let stage: FolderStage;
  let initial: number;
  before(async () => {
    stage = await openFolderStage();
    initial = await watches();
  });
  after(() => stage.stop());
  afterEach(async () => {
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    for (const { id } of body.folders) await stage.call('DELETE', `/api/knowledge/folders/${id}`);
  });

  const index = (path: string, by?: string) =>
    stage.call('POST', '/api/knowledge/index', { path, watch: true }, by);
  const onlyFolder = async (by?: string) =>
    (await stage.call('GET', '/api/knowledge/folders', undefined, by)).body.folders[0];
  const scanned = (by?: string) =>
    until(
      () => onlyFolder(by),
      ({ scannedAt }) => scannedAt,
    );
  const watched = (count: number) => until(watches, (now) => now - initial === count);
  const found = (query: string, titles: string[]) =>
    until(
      () => stage.found(query),
      (now) => JSON.stringify(now) === JSON.stringify(titles),
      20_000,
    );

  it('watches its folders and not its files, whose changes are read all the same', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `deep/er/${at}.md`);
    await stage.write(Object.fromEntries(names.map((name) => [name, 'Curlews'])));
    await index(stage.folder);
    await scanned();
    await watched(3);
    await writeFile(join(stage.folder, 'deep/er/7.md'), 'Avocets stand here');
    await found('avocets', ['7.md']);
    await stage.write({ 'new/est/b.md': 'Dunlins' });
    await found('dunlins', ['b.md']);
    await watched(5);
    await stage.write({ 'new/est/b.md': 'Godwits' });
    await found('godwits', ['b.md']);
  });

  it('is one of a single file, if that is what was indexed', async () => {
    const path = join(stage.root, 'single.md');
    await writeFile(path, 'Lapwings');
    await index(path);
    await scanned();
    await watched(1);
    await writeFile(path, 'Ruffs and reeves');
    await found('ruffs', ['single.md']);
    await rm(path);
    await found('ruffs', []);
    expect((await onlyFolder()).error).to.be.null();
  });

  it('forgets a single file that is gone with its folder', async () => {
    const path = join(stage.root, 'deep/single.md');
    await mkdir(join(stage.root, 'deep'));
    await writeFile(path, 'Whimbrels');
    await index(path);
    await scanned();
    await found('whimbrels', ['single.md']);
    await rm(join(stage.root, 'deep'), { recursive: true });
    await found('whimbrels', []);
    expect((await onlyFolder()).error).to.be.null();
  });

  it('ends when the folder may not be read any more', async () => {
    const { token, id } = await stage.app.register('eve');
    const allow = (index: boolean) =>
      stage.call('PATCH', `/api/admin/users/${id}`, { permissions: { index } });
    await allow(true);
    const folder = join(stage.root, 'eves');
    await mkdir(folder);
    await index(folder, token);
    await scanned(token);
    await watched(1);
    await allow(false);
    await writeFile(join(folder, 'a.md'), 'Curlews');
    const { error } = await until(
      () => onlyFolder(token),
      (now) => now.error !== null,
      20_000,
    );
    expect(error).to.contain('permission index');
    await watched(0);
  });

  const madeAnew = async (path: string, words: Record<string, string>) => {
    await rm(path, { recursive: true });
    await mkdir(path);
    for (const [name, content] of Object.entries(words)) await writeFile(join(path, name), content);
  };

  it('goes on when its folder was away, or was removed, and is back', async () => {
    const path = join(stage.root, 'coming');
    await mkdir(join(path, 'deep'), { recursive: true });
    await writeFile(join(path, 'deep/a.md'), 'Whimbrels');
    await index(path);
    await scanned();
    const isMissing = (missing: boolean) =>
      until(onlyFolder, ({ error }) => /does not exist/.test(error ?? '') === missing);
    await rename(path, `${path}-away`);
    await isMissing(true);
    await watched(0);
    await rename(`${path}-away`, path);
    await isMissing(false);
    await writeFile(join(path, 'deep/b.md'), 'Whimbrels too');
    await found('whimbrels', ['a.md', 'b.md']);
    await watched(2);
    await rm(path, { recursive: true });
    await isMissing(true);
    await mkdir(path);
    await isMissing(false);
    await writeFile(join(path, 'c.md'), 'Whimbrels again');
    await found('whimbrels', ['c.md']);
    await watched(1);
  });

  it('goes on when its folder was removed and made at once', async () => {
    const path = join(stage.root, 'made');
    await mkdir(path);
    await writeFile(join(path, 'a.md'), 'Phalaropes');
    await index(path);
    await scanned();
    await watched(1);
    await madeAnew(path, { 'b.md': 'Phalaropes' });
    await found('phalaropes', ['b.md']);
    for (const name of ['c.md', 'd.md']) {
      await writeFile(join(path, name), `Only in ${name.replace('.', '')}`);
      await found(name.replace('.', ''), [name]);
    }
    await watched(1);
  });

  it('goes on in a subfolder that was removed and made at once, for all that watch it', async () => {
    const path = join(stage.root, 'outer');
    const inner = join(path, 'inner');
    await mkdir(join(inner, 'deep'), { recursive: true });
    await writeFile(join(inner, 'deep/a.md'), 'Turnstones');
    const { token, id } = await stage.app.register('ida');
    await stage.call('PATCH', `/api/admin/users/${id}`, { permissions: { index: true } });
    await index(path);
    await index(join(inner, 'deep'), token);
    await Promise.all([scanned(), scanned(token)]);
    await watched(3);
    await rm(inner, { recursive: true });
    await mkdir(join(inner, 'deep'), { recursive: true });
    await writeFile(join(inner, 'deep/b.md'), 'Turnstones');
    await found('turnstones', ['b.md']);
    for (const name of ['c.md', 'd.md']) {
      await writeFile(join(inner, 'deep', name), `Only in ${name.replace('.', '')}`);
      await found(name.replace('.', ''), [name]);
      await until(
        () => stage.found(name.replace('.', ''), token),
        (now) => now.length === 1,
        20_000,
      );
    }
    await watched(3);
    const { body } = await stage.call('GET', '/api/knowledge/folders', undefined, token);
    await stage.call('DELETE', `/api/knowledge/folders/${body.folders[0].id}`, undefined, token);
  });

  it('gives way to scans at intervals where there are too many folders', async () => {
    const faults: string[] = [];
    const watcher = createFolderWatcher({
      clock: systemClock,
      log: createLog('silent'),
      settleMs: 10,
      mostWatched: 10,
      isSecret: () => false,
      changed: async () => undefined,
      told: async (_, fault) => void faults.push(fault),
    });
    const path = join(stage.root, 'many');
    for (let at = 0; at < 10; at++) await mkdir(join(path, String(at)), { recursive: true });
    const row = { ...ROW, id: 'folder_many', path };
    // One more than ten is the folder itself.
    await watcher.add(row);
    await untilAtLeast(async () => faults, 1);
    await watched(0);
    const fault =
      'The folder is scanned every ten minutes: the folder contains more than 10 folders';
    expect([faults, watcher.faultOf(row.id)]).to.equal([[fault], fault]);
    await watcher.stop();
  });

  for (const [code, remedy] of [
    ['ENOSPC', 'the limit of watched folders is reached. Raise fs.inotify.max_user_watches'],
    ['EMFILE', 'the limit of watching programs is reached. Raise fs.inotify.max_user_instances'],
  ] as const) {
    it(`gives way to scans at intervals at a limit of the system: ${code}`, async () => {
      const faults: string[] = [];
      const watcher = createFolderWatcher({
        clock: systemClock,
        log: createLog('silent'),
        settleMs: 10,
        mostWatched: 10,
        isSecret: () => false,
        changed: async () => undefined,
        told: async (_, fault) => void faults.push(fault),
        loadWatch: async () => {
          const open = await loadTreeWatch();
          return (options) => {
            const files = open(options);
            files.once('ready', () =>
              files.emit('error', Object.assign(new Error(code), { code })),
            );
            return files;
          };
        },
      });
      const path = join(stage.root, code);
      await mkdir(path);
      await watcher.add({ ...ROW, id: `folder_${code}`, path });
      await untilAtLeast(async () => faults, 1);
      const fault = `The folder is scanned every ten minutes: ${remedy}`;
      expect([faults, watcher.faultOf(`folder_${code}`)]).to.equal([[fault], fault]);
      await watcher.stop();
    });
  }
});

const ROW: KnowledgeFolderRow = {
  ...{ id: '', user_id: 'user_a', path: '', type: 'directory', patterns: '[]', tags: '[]' },
  ...{ watch: 1, device: null, operation_id: 'operation_a', error: null },
  ...{ created_at: '2026-01-01T00:00:00.000Z', scanned_at: null },
};
