import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { pdfOf } from '../harness/pdf.js';
import { openForSuite } from '../harness/suite.js';
import { upload } from '../harness/upload.js';
import { openFolderStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('a folder of the machine', () => {
  const stage = openForSuite(lab, openFolderStage);
  beforeEach(async () => {
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    for (const { id } of body.folders) await stage.call('DELETE', `/api/knowledge/folders/${id}`);
    await rm(stage.folder, { recursive: true, force: true });
    await mkdir(stage.folder);
  });

  const index = (more: object = {}) => stage.index({ path: stage.folder, ...more });
  const entries = async () => (await stage.call('GET', '/api/knowledge?limit=200')).body.entries;
  const onlyFolder = async () => {
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    return (await stage.call('GET', `/api/knowledge/folders/${body.folders[0].id}`)).body;
  };

  it('is read with all its subfolders, each file as an entry', async () => {
    await stage.write({
      'servers.md': '# Servers\n\nThe staging server is argon.',
      'deep/er/letter.pdf': pdfOf('The lighthouse keeper', 'wrote of argon'),
      'page.html': '<title>x</title><p>Argon is a gas.<p style="display:none">xenon',
      'umlaut.txt': Buffer.from('Argon fl\xfcstert', 'latin1'),
      'picture.bin': Buffer.from([0, 1, 2, 3]),
      '.hidden.md': 'argon',
      '.git/config.txt': 'argon',
    });
    await symlink('/etc/hostname', join(stage.folder, 'link.txt'));
    await symlink('/etc', join(stage.folder, 'linked'));
    const { status, result, progress } = await index({ tags: ['work'] });
    expect({ status, result }).to.equal({
      status: 'completed',
      result: { unchanged: 0, read: 4, moved: 0, failed: 0, skipped: 1, removed: 0 },
    });
    expect(progress).to.include({ done: 5, total: 5, unit: 'files' });
    expect(await stage.found('argon')).to.equal([
      ...['letter.pdf', 'page.html', 'servers.md', 'umlaut.txt'],
    ]);
    expect(await stage.found('flüstert')).to.equal(['umlaut.txt']);
    expect(await stage.found('xenon')).to.equal([]);
    const letter = (await entries()).find(({ title }: { title: string }) => title === 'letter.pdf');
    expect(letter).to.include({
      ...{ sourceType: 'file', trust: 'outside', status: 'ready' },
      uri: `file://${stage.folder}/deep/er/letter.pdf`,
    });
    expect(letter.tags).to.equal(['work']);
    const hits = await stage.call('POST', '/api/knowledge/search', { query: 'keeper' });
    expect(hits.body.results[0]).to.include({ title: 'letter.pdf', page: 1 });
    expect(await onlyFolder()).to.include({
      ...{ path: stage.folder, type: 'directory', watch: false, error: null },
      files: { ready: 4, pending: 0, failed: 0, skipped: 1 },
    });
  });

  it('is not read again where nothing has changed; what was moved keeps its entry', async () => {
    await stage.write({ 'a.md': 'Walruses swim', 'b.md': 'Quokkas hop', 'c.md': 'Herons wade' });
    await index();
    const before = await entries();
    expect((await index()).result).to.include({ unchanged: 3, read: 0 });
    await mkdir(join(stage.folder, 'deep'));
    await rename(join(stage.folder, 'a.md'), join(stage.folder, 'deep/z.md'));
    await rm(join(stage.folder, 'b.md'));
    await stage.write({ 'c.md': 'Herons nest' });
    await utimes(join(stage.folder, 'c.md'), 1, 1);
    const { result } = await index();
    expect(result).to.equal({ unchanged: 0, read: 1, moved: 1, failed: 0, skipped: 0, removed: 1 });
    const after = await entries();
    const idOf = (list: { id: string; title: string }[], title: string) =>
      list.find((entry) => entry.title === title)?.id;
    expect(after.length).to.equal(2);
    expect(idOf(after, 'z.md')).to.equal(idOf(before, 'a.md'));
    expect(idOf(after, 'c.md')).to.equal(idOf(before, 'c.md'));
    expect(await stage.found('walruses')).to.equal(['z.md']);
    expect(await stage.found('quokkas')).to.equal([]);
    expect(await stage.found('wade')).to.equal([]);
    expect(await stage.found('nest')).to.equal(['c.md']);
  });

  it('is read again where a file has been replaced by one of the same size and time', async () => {
    const paths = ['a.md', 'b.md', 'c.md'].map((name) => join(stage.folder, name));
    const [a = '', b = '', c = ''] = paths;
    await stage.write({ 'a.md': 'Bitterns', 'b.md': 'Cormoran', 'c.md': 'Dotterel' });
    for (const path of paths) await utimes(path, 1000, 1000);
    await index();
    await rename(a, `${a}x`);
    await rename(b, a);
    await rename(`${a}x`, b);
    await writeFile(`${c}x`, 'Egretta.');
    await utimes(`${c}x`, 1000, 1000);
    await rename(`${c}x`, c);
    expect((await index()).result).to.include({ unchanged: 0, failed: 0, removed: 0 });
    expect(await stage.found('bitterns')).to.equal(['b.md']);
    expect(await stage.found('cormoran')).to.equal(['a.md']);
    expect(await stage.found('dotterel')).to.equal([]);
    expect(await stage.found('egretta')).to.equal(['c.md']);
    await writeFile(c, 'Fulmarus');
    await utimes(c, 1000, 1000);
    expect((await index()).result).to.include({ unchanged: 2, read: 1 });
    expect(await stage.found('fulmarus')).to.equal(['c.md']);
  });

  it('is read as far as its patterns fit', async () => {
    const words = { 'a.md': 'tern', 'b.txt': 'tern', 'old/c.md': 'tern', '.d/e.md': 'tern' };
    await stage.write(words);
    await index({ patterns: ['**/*.md', '!old/**'] });
    expect(await stage.found('tern')).to.equal(['a.md']);
    await index({ patterns: ['.d/*', 'b*'] });
    expect(await stage.found('tern')).to.equal(['b.txt', 'e.md']);
    await index({ tags: ['new'] });
    expect(await stage.found('tern')).to.equal(['b.txt', 'e.md']);
    expect((await entries()).map(({ tags }: { tags: string[] }) => tags)).to.equal([
      ...[['new'], ['new']],
    ]);
  });

  it('fails with a sentence, and keeps what was read, where it cannot be read', async () => {
    await stage.write({ 'a.md': 'Puffins' });
    await index();
    const late = '*a'.repeat(60);
    await stage.write({ [`${'a'.repeat(200)}.txt`]: 'a' });
    const { status, error } = await index({ patterns: [late] });
    expect({ status, error }).to.equal({ status: 'failed', error: 'The patterns are too complex' });
    await index({ patterns: [] });
    await rm(stage.folder, { recursive: true });
    const gone = await stage.call('POST', '/api/knowledge/index', { path: stage.folder });
    expect(gone.status).to.equal(400);
    expect(gone.body.details).to.equal([{ path: 'path', message: 'does not exist' }]);
    expect(await stage.found('puffins')).to.equal(['a.md']);
  });

  it('says which of its files could not be read', async () => {
    await stage.write({ 'broken.pdf': '%PDF-1.4 nothing', 'good.md': 'Gannets' });
    expect((await index()).result).to.include({ read: 1, failed: 1 });
    const { files, failures } = await onlyFolder();
    expect(files).to.include({ ready: 1, failed: 1 });
    expect(failures[0]).to.include({ path: 'broken.pdf' });
    expect(failures[0].error).to.match(/damaged|PDF/);
    expect((await index()).result).to.include({ unchanged: 2, read: 0 });
  });

  it('is one folder, however its path is spelled', async () => {
    await stage.write({ 'a.md': 'Sanderlings', 'deep/b.md': 'Knots' });
    const { root, folder } = stage;
    const spellings = [
      ...[folder, `${folder}/`, `${root}//notes`, `${root}/./notes`, `${folder}/deep/..`],
      ...[`//${folder}`, `${folder}/.`],
    ];
    for (const path of spellings) {
      expect((await stage.index({ path })).status, path).to.equal('completed');
    }
    const { body } = await stage.call('GET', '/api/knowledge/folders');
    expect(body.folders.map(({ path }: { path: string }) => path)).to.equal([folder]);
    expect((await entries()).length).to.equal(2);
  });

  it('names what is not read because its name is not UTF-8', {
    skip: process.platform !== 'linux',
  }, async () => {
    const named = (name: string) => Buffer.from(join(stage.folder, name), 'latin1');
    const index = () => stage.index({ path: stage.folder, patterns: ['**/*.txt'] });
    await stage.write({ 'deep/a.txt': 'Smews', 'M\uFFFDnchen.txt': 'Smews' });
    await writeFile(named('deep/M\xfcnchen.txt'), 'Smews');
    await writeFile(named('M\xfcnchen.md'), 'Smews');
    await writeFile(named('.M\xfcnchen.txt'), 'Smews');
    await mkdir(named('K\xf6ln'));
    await writeFile(named('K\xf6ln/b.txt'), 'Smews');
    expect((await index()).result).to.include({ read: 2, failed: 2 });
    const failures = [
      { path: 'K\\xf6ln', error: 'The folder was skipped because its name is not valid UTF-8' },
      {
        path: 'deep/M\\xfcnchen.txt',
        error: 'The file was skipped because its name is not valid UTF-8',
      },
    ];
    expect((await onlyFolder()).failures).to.equal(failures);
    expect((await index()).result).to.include({ unchanged: 4, failed: 0 });
    await rename(named('K\xf6ln'), join(stage.folder, 'Köln'));
    expect((await index()).result).to.include({ unchanged: 3, read: 1, removed: 1 });
    expect((await onlyFolder()).failures).to.equal(failures.slice(1));
    expect(await stage.found('smews')).to.equal(['M\uFFFDnchen.txt', 'a.txt', 'b.txt']);
  });

  it('may be one file', async () => {
    await stage.write({ 'a.md': 'Dunlins', 'b.md': 'Dunlins' });
    const path = join(stage.folder, 'a.md');
    expect((await stage.index({ path, type: 'file' })).result).to.include({ read: 1 });
    expect(await stage.found('dunlins')).to.equal(['a.md']);
    const wrong = await stage.call('POST', '/api/knowledge/index', { path, type: 'directory' });
    expect(wrong.body.details[0].path).to.equal('type');
  });

  it('is watched, also after a restart, until it is forgotten', async () => {
    await stage.write({ 'a.md': 'Curlews' });
    await index({ watch: true });
    const foundAs = async (query: string, titles: string[]) =>
      until(
        () => stage.found(query),
        (found) => JSON.stringify(found) === JSON.stringify(titles),
        20_000,
      );
    await stage.write({ 'deep/b.md': 'Curlews' });
    await foundAs('curlews', ['a.md', 'b.md']);
    await rm(join(stage.folder, 'a.md'));
    await foundAs('curlews', ['b.md']);
    await stage.app.app.close();
    await stage.write({ 'c.md': 'Curlews' });
    await stage.app.restart().catch(() => undefined);
    await foundAs('curlews', ['b.md', 'c.md']);
    await stage.write({ 'd.md': 'Curlews' });
    await foundAs('curlews', ['b.md', 'c.md', 'd.md']);
    const { id } = await onlyFolder();
    expect((await stage.call('DELETE', `/api/knowledge/folders/${id}`)).status).to.equal(204);
    expect(await stage.found('curlews')).to.equal([]);
    expect((await stat(join(stage.folder, 'deep/b.md'))).isFile()).to.be.true();
    expect((await stage.call('GET', '/api/knowledge/folders')).body.folders).to.equal([]);
  });

  it('is no one else’s', async () => {
    await stage.write({ 'a.md': 'Godwits' });
    await index();
    const { id } = await onlyFolder();
    const { token } = await stage.app.register(`u${Date.now()}`);
    const asOther = (method: string, path: string) => stage.call(method, path, undefined, token);
    expect((await asOther('GET', `/api/knowledge/folders/${id}`)).status).to.equal(404);
    expect((await asOther('DELETE', `/api/knowledge/folders/${id}`)).status).to.equal(404);
    expect((await asOther('GET', '/api/knowledge/folders')).body.folders).to.equal([]);
    expect(await stage.found('godwits', token)).to.equal([]);
    expect(await stage.found('godwits')).to.equal(['a.md']);
  });
});

describe('the admission to folders', () => {
  const stage = openForSuite(lab, openFolderStage);

  const asked = async (body: object, token?: string) => {
    const reply = await stage.call('POST', '/api/knowledge/index', body, token);
    return { status: reply.status, message: reply.body.message as string };
  };

  it('is given below a root alone, and not through links', async () => {
    await symlink('/etc', join(stage.root, 'etc'));
    for (const path of ['/etc', '/etc/hostname', join(stage.root, '../etc'), `${stage.root}-x`]) {
      expect(await asked({ path })).to.include({ status: 403 });
    }
    expect((await asked({ path: '/etc' })).message).to.contain('ADJUTANT_KNOWLEDGE_ROOTS');
    for (const path of [
      join(stage.root, 'etc'),
      join(stage.root, 'etc/hostname'),
      'notes',
      '/\0',
    ]) {
      expect(await asked({ path })).to.include({ status: 400 });
    }
  });

  it('needs the permission index', async () => {
    const { token, id } = await stage.app.register('eve');
    const { status, message } = await asked({ path: stage.folder }, token);
    expect(status).to.equal(403);
    expect(message).to.contain('permission index');
    const path = `/api/admin/users/${id}`;
    await stage.call('PATCH', path, { permissions: { index: true } });
    expect(await asked({ path: stage.folder }, token)).to.include({ status: 202 });
  });

  it('takes one source, with what belongs to it', async () => {
    const path = stage.folder;
    for (const body of [
      {},
      { path, text: 'x' },
      { path, title: 'x' },
      { text: 'x', watch: true },
      { text: 'x', patterns: ['*'] },
      { url: 'https://example.org', type: 'file' },
    ]) {
      expect(await asked(body)).to.include({ status: 400 });
    }
  });

  it('is not given without roots', async () => {
    await stage.app.restart({ knowledgeRoots: [] });
    expect(await asked({ path: stage.folder })).to.include({ status: 403 });
    await stage.app.restart();
  });

  it('is refused below a root that does not exist, which the doctor names', async () => {
    const root = join(stage.root, 'unmounted');
    await stage.app.restart({ knowledgeRoots: [root, stage.root] });
    for (const path of [root, join(root, 'notes'), join(root, 'deep/er')]) {
      const { status, body } = await stage.call('POST', '/api/knowledge/index', { path });
      expect([status, body.details?.[0].path], path).to.equal([400, 'path']);
      expect(body.message).to.contain('does not exist');
    }
    const { body } = await stage.call('GET', '/api/admin/doctor');
    const told = body.findings.filter(({ detail }: { detail: string }) => detail.includes(root));
    expect(told).to.equal([
      {
        ...{ name: 'folders', status: 'warn' },
        detail: `ADJUTANT_KNOWLEDGE_ROOTS contains ${root}, which does not exist`,
        remedy: 'create or mount the folder, or change ADJUTANT_KNOWLEDGE_ROOTS',
      },
    ]);
    await stage.app.restart();
  });

  it('is refused with patterns that cannot be understood, and keeps what was read', async () => {
    await stage.write({ 'a.md': 'dotterel' });
    await stage.index({ path: stage.folder });
    for (const wrong of ['[', 'a]', '{a,b', '!(old', '+(a|b', '[z-a].md']) {
      const given = { path: stage.folder, patterns: ['**/*.md', wrong] };
      const { status, body } = await stage.call('POST', '/api/knowledge/index', given);
      expect([status, body.details?.[0].path], wrong).to.equal([400, 'patterns.1']);
    }
    expect(await stage.found('dotterel')).to.equal(['a.md']);
    const patterns = ['!(b|c).md', '[!b].md', '{a,b}.md', 'a{1..3}.md', '\\[x'];
    const { status } = await stage.index({ path: stage.folder, patterns });
    expect(status).to.equal('completed');
  });

  it('stops the start where a root lies in the home', async () => {
    const { home } = stage.app;
    const start = stage.app.restart({ knowledgeRoots: [join(home, 'documents')] });
    await expect(start).to.reject(
      /ADJUTANT_KNOWLEDGE_ROOTS must not contain a folder in the data folder/,
    );
    await stage.app.restart().catch(() => undefined);
  });

  it('stops the start where a root lies in the backups or the logins', async () => {
    const backups = join(stage.root, 'backups');
    await mkdir(join(backups, 'inner'), { recursive: true });
    for (const root of [backups, join(backups, 'inner')]) {
      const start = stage.app.restart({ knowledgeRoots: [root], backupFolder: backups });
      await expect(start).to.reject(
        /must not contain a folder in the data folder, its backups or the logins/,
      );
    }
    await stage.app.restart({ knowledgeRoots: [stage.root] }).catch(() => undefined);
  });

  it('is not read through a link that was put in the place of a root, or before it', async () => {
    const outer = join(stage.root, 'outer');
    const root = join(outer, 'own');
    await mkdir(root, { recursive: true });
    await writeFile(join(root, 'a.md'), 'plover');
    await mkdir(join(stage.root, 'other', 'own'), { recursive: true });
    await writeFile(join(stage.root, 'other', 'own', 'b.md'), 'plover canary');
    await stage.app.restart({ knowledgeRoots: [root] });
    expect((await stage.index({ path: root })).status).to.equal('completed');
    expect(await stage.found('plover')).to.equal(['a.md']);
    for (const [place, target] of [
      [root, join(stage.root, 'other', 'own')],
      [outer, join(stage.root, 'other')],
    ] as const) {
      await rename(place, `${place}-away`);
      await symlink(target, place);
      const { status, body } = await stage.call('POST', '/api/knowledge/index', { path: root });
      expect([status, body.details?.[0]?.path]).to.equal([400, 'path']);
      await rm(place);
      await rename(`${place}-away`, place);
    }
    expect(await stage.found('canary')).to.equal([]);
    await stage.app.restart({ knowledgeRoots: [stage.root] });
  });

  it('leaves out what its patterns leave out, whatever the name', async () => {
    await stage.write({
      ...{ 'out/ok.md': 'dunlin', 'out/drafts/.dot.md': 'dunlin', 'out/drafts/a\nb.md': 'dunlin' },
      'out/.named/c.md': 'dunlin',
    });
    const patterns = ['**/*.md', '**/.*/*.md', '**/.*.md', '!drafts/**'];
    await stage.index({ path: join(stage.folder, 'out'), patterns });
    expect(await stage.found('dunlin')).to.equal(['c.md', 'ok.md']);
  });

  it('leaves the home out that lies below a root', async () => {
    const { home } = stage.app;
    await writeFile(join(home, 'canary.txt'), 'sandpiper');
    await stage.write({ 'a.md': 'sandpiper' });
    const around = join(home, '..');
    await stage.app.restart({ knowledgeRoots: [around] });
    const name = stage.root.slice(around.length + 1);
    const own = `${home.slice(around.length + 1)}/**`;
    const { status } = await stage.index({ path: around, patterns: [own, `${name}/**`] });
    expect(status).to.equal('completed');
    expect(await stage.found('sandpiper')).to.equal(['a.md']);
    for (const path of [join(home, 'keys'), join(home, 'canary.txt')]) {
      const { status: refused, body } = await stage.call('POST', '/api/knowledge/index', { path });
      expect([refused, body.code, body.message]).to.equal([
        403,
        'not_indexable',
        `${path} cannot be indexed because it contains files of the daemon. Choose another folder`,
      ]);
    }
    expect(await stage.found('sandpiper')).to.equal(['a.md']);
  });
});

describe('what else can be indexed', () => {
  const stage = openForSuite(lab, openFolderStage);

  it('is a document that was not to be found, and then has other tags', async () => {
    const files = [{ name: 'letter.txt', content: 'Kestrels hover' }];
    const { body } = await upload(stage.app, stage.token, files, { index: 'false' });
    const id = body.documents[0]?.id;
    await until(
      () => stage.call('GET', `/api/documents/${id}`),
      (reply) => reply.body.status === 'completed',
      20_000,
    );
    expect(await stage.found('kestrels')).to.equal([]);
    const { status } = await stage.index({ documentId: id, tags: ['birds'] });
    expect(status).to.equal('completed');
    expect(await stage.found('kestrels')).to.equal(['letter.txt']);
    await stage.call('PATCH', `/api/documents/${id}`, { filename: 'birds.txt' });
    const search = { query: 'kestrels', filters: { tags: ['birds'] } };
    await until(
      () => stage.call('POST', '/api/knowledge/search', search),
      (reply) => reply.body.results[0]?.title === 'birds.txt',
    );
    const { knowledgeId } = (await stage.call('GET', `/api/documents/${id}`)).body;
    await stage.call('DELETE', `/api/knowledge/${knowledgeId}`);
    expect((await stage.call('GET', `/api/documents/${id}`)).body.knowledgeId).to.be.null();
    const none = { documentId: 'document_00000000000000000000000000' };
    expect((await stage.call('POST', '/api/knowledge/index', none)).status).to.equal(404);
  });
});
