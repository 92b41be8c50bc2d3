import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, until } from '../harness/app.js';
import { type UploadedFile, upload } from '../harness/upload.js';
import { zip } from './zip.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const OVER = ['completed', 'failed', 'cancelled'];

describe('documents', () => {
  let app: TestApp;
  let token: string;
  let userId: string;
  let other: string;
  before(async () => {
    app = await startApp({ config: { documentsGib: 300 / 1024 ** 2 } });
    ({ token, id: userId } = await app.register('ada'));
    ({ token: other } = await app.register('grace'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown, by = token) =>
    app.call(method, `/api/documents${path}`, { token: by, ...(body !== undefined && { body }) });
  const read = (id: string, by = token) =>
    until(
      async () => (await ask('GET', `/${id}`, undefined, by)).body,
      ({ status }) => OVER.includes(status),
    );
  const put = async (...files: UploadedFile[]) => {
    const { body } = await upload(app, token, files);
    return Promise.all(body.documents.map(({ id }) => read(id)));
  };

  it('are kept as they came, and their text is read', async () => {
    const content = '# Lanterns\n\nTwelve of brass, für Übersee.\n';
    const sent = await upload(app, token, [{ name: 'notes.md', content }], { tags: 'work' });
    expect(sent.status).to.equal(202);
    const [uploaded] = sent.body.documents;
    const document = await read(uploaded?.id ?? '');
    expect(document).to.include({
      filename: 'notes.md',
      mediaType: 'text/markdown',
      bytes: Buffer.byteLength(content),
      sha256: createHash('sha256').update(content).digest('hex'),
      status: 'completed',
      pages: 1,
      ocr: 'none',
      confidence: null,
      error: null,
      ocrText: content.trim(),
      truncated: false,
    });
    expect(document.tags).to.equal(['work']);
    expect(document.pageList).to.equal([
      { number: 1, chars: content.trim().length, ocr: false, confidence: null },
    ]);
    const page = await ask('GET', `/${document.id}/pages/1`);
    expect(page.body).to.include({ text: content.trim(), filename: 'notes.md', pages: 1 });
    const original = await fetch(`${app.url}/api/documents/${document.id}/content`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await original.text()).to.equal(content);
    expect(original.headers.get('content-disposition')).to.equal(
      "attachment; filename*=UTF-8''notes.md",
    );
    expect(original.headers.get('content-security-policy')).to.equal('sandbox');
    expect(original.headers.get('x-content-type-options')).to.equal('nosniff');
    const operation = await app.call('GET', `/api/operations/${document.operationId}`, { token });
    expect(operation.body).to.include({ kind: 'documents.read', status: 'completed' });
    expect(operation.body.progress).to.equal({ done: 1, total: 1, unit: 'pages', note: null });
  });

  it('are found by what stands in them, with the page, until they are deleted', async () => {
    const [mail] = await put({
      name: 'offer.md',
      content: '# Offer\n\nThe zeppelin costs nine hundred crowns.',
    });
    const search = async (by: string) => {
      const body = { query: 'zeppelin', mode: 'keyword' };
      return (await app.call('POST', '/api/knowledge/search', { token: by, body })).body.results;
    };
    const [found] = await search(token);
    expect(found).to.include({
      entryId: mail.knowledgeId,
      title: 'offer.md',
      sourceType: 'document',
      page: 1,
      trust: 'outside',
    });
    expect(await search(other)).to.equal([]);
    await ask('DELETE', `/${mail.id}`);
    expect(await search(token)).to.equal([]);
    const kept = await upload(app, token, [{ name: 'quiet.md', content: 'A zeppelin.' }], {
      index: 'false',
    });
    const quiet = await read(kept.body.documents[0]?.id ?? '');
    expect(quiet).to.include({ status: 'completed', knowledgeId: null });
    expect(await search(token)).to.equal([]);
  });

  it('are told by their content, and each refused file has its reason', async () => {
    const { status, body } = await upload(app, token, [
      { name: 'page.html', content: '<h1>Title</h1><p>Text<script>no()</script>' },
      { name: 'empty.txt', content: '' },
      { name: 'program.bin', content: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]) },
      { name: 'fake.pdf', content: 'no pdf at all' },
      { name: '../../etc/passwd.txt', content: 'root' },
      { name: '..', content: 'dots' },
    ]);
    expect(status).to.equal(202);
    expect(body.documents.map(({ filename }) => filename)).to.equal(['page.html', 'passwd.txt']);
    expect(body.refused).to.equal([
      { filename: 'empty.txt', reason: 'is empty' },
      { filename: 'program.bin', reason: 'has an unsupported file type' },
      { filename: 'fake.pdf', reason: 'has an unsupported file type' },
      { filename: 'unnamed', reason: 'has an unsupported file type' },
    ]);
    const page = await read(body.documents[0]?.id ?? '');
    expect(page.ocrText).to.equal('# Title\n\nText');
    expect(await readdir(app.home)).to.not.include('etc');
  });

  it('of HTML are read in their charset, without what is hidden', async () => {
    const inShiftJis = Buffer.from('938c8b9e82cc93568b43', 'hex');
    const charset = Buffer.from('<meta charset="shift_jis">');
    const hidden = Buffer.from('<p style="display:none">Obey.</p><p>open<b hidden>Obey.');
    const [page] = await put({
      name: 'page.html',
      content: Buffer.concat([charset, Buffer.from('<p>'), inShiftJis, hidden]),
    });
    expect(page).to.include({ status: 'completed', ocrText: '東京の天気\n\nopen' });
  });

  it('keep the text that they had if they are read again and that is cancelled', async () => {
    const [document] = await put({ name: 'twice.txt', content: 'The ferry leaves at nine.' });
    const begun = await ask('POST', `/${document.id}/reprocess`, {});
    expect(begun.status).to.equal(202);
    await ask('POST', `/${document.id}/cancel`);
    const { body } = await ask('GET', `/${document.id}`);
    expect(OVER).to.include(body.status);
    expect(body).to.include({ ocrText: 'The ferry leaves at nine.', pages: 1, textChars: 25 });
    await ask('POST', `/${document.id}/reprocess`, {});
    expect(await read(document.id)).to.include({
      status: 'completed',
      ocrText: 'The ferry leaves at nine.',
      pages: 1,
    });
  });

  it('of more files than an upload may have are refused, and leave nothing behind', async () => {
    const files = Array.from({ length: 51 }, (_, at) => ({ name: `${at}.txt`, content: `${at}` }));
    const { status, body } = await upload(app, token, files);
    expect([status, Object(body).details?.[0]?.path]).to.equal([400, 'files']);
    expect(await readdir(join(app.home, 'scratch'))).to.equal([]);
  });

  it('in UTF-16 with its mark are text, and what only begins like that is not', async () => {
    const little = Buffer.from('\ufeffGrüße aus Köln', 'utf16le');
    const { body } = await upload(app, token, [
      { name: 'little.txt', content: little },
      { name: 'big.log', content: Buffer.from(little).swap16() },
      { name: 'tone.txt', content: Buffer.from([0xff, 0xfe, 0, 0, 0x44, 0, 0, 0x44]) },
    ]);
    expect(body.refused).to.equal([
      {
        filename: 'tone.txt',
        reason:
          'contains NUL bytes, but is not text in UTF-16 or in UTF-32 with a byte order mark. Save it as UTF-8 text',
      },
    ]);
    for (const { id, filename } of body.documents) {
      const { mediaType, ocrText } = await read(id);
      expect([mediaType, ocrText], filename).to.equal(['text/plain', 'Grüße aus Köln']);
    }
  });

  it('that are another archive than their name says fail with a sentence of ours', async () => {
    const content = zip([{ name: 'a.txt', content: 'no letter' }]);
    const { body } = await upload(app, token, [{ name: 'report.docx', content }]);
    const { status, code, error } = await read(body.documents[0]?.id ?? '');
    expect({ status, code, error }).to.equal({
      ...{ status: 'failed', code: 'damaged' },
      error: 'The file is not a complete office document. Use an intact copy of the file',
    });
  });

  it('have names without halves of characters', async () => {
    const name = `${'😀'.repeat(150)}.txt`;
    const { body } = await upload(app, token, [{ name, content: 'Long.' }]);
    expect(body.documents[0]?.filename).to.equal(`${'😀'.repeat(125)}.txt`);
  });

  it('are refused all together only if nothing of an upload can be kept', async () => {
    const none = await upload(app, token, []);
    expect([none.status, none.body.message]).to.equal([
      400,
      'Invalid request: files contains no file',
    ]);
    const empty = await upload(app, token, [{ name: 'a.txt', content: '' }]);
    expect([empty.status, empty.body.message]).to.equal([400, 'Invalid request: a.txt is empty']);
    const files = [{ name: 'a.txt', content: 'some text' }];
    const tongue = await upload(app, token, files, { language: 'eng+tlh' });
    expect(tongue.status).to.equal(400);
    expect(tongue.body.message).to.match(
      /^Invalid request: language must contain only installed languages\. Not installed: tlh\. Installed: .*eng/,
    );
    const unknown = await upload(app, token, files, { colour: 'red' });
    expect([unknown.status, unknown.body.message]).to.equal([
      400,
      'Invalid request: colour is not allowed',
    ]);
    expect((await ask('GET', '?q=a.txt')).body.documents).to.equal([]);
    const json = await app.call('POST', '/api/documents/upload', { token, body: {} });
    expect([json.status, json.body.message]).to.equal([
      415,
      'Send multipart/form-data, not application/json',
    ]);
  });

  it('are the same document if the same bytes come again', async () => {
    const file = { name: 'once.txt', content: 'only one of these' };
    const [first] = await put(file);
    const again = await upload(app, token, [{ ...file, name: 'twice.txt' }]);
    expect(again.body.documents[0]).to.include({
      id: first.id,
      filename: 'once.txt',
      duplicate: true,
    });
    const [others] = (await upload(app, other, [file])).body.documents;
    expect(others?.duplicate).to.be.false();
    const both = await Promise.all(
      ['x', 'y', 'z'].map((name) => upload(app, token, [{ name: `${name}.txt`, content: 'race' }])),
    );
    expect(new Set(both.map(({ body }) => body.documents[0]?.id)).size).to.equal(1);
  });

  it('are seen by their owner alone', async () => {
    const [mine] = await put({ name: 'secret.txt', content: 'canary-7f3a' });
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', '/pages/1'],
      ['GET', '/content'],
      ['PATCH', '', { filename: 'x' }],
      ['POST', '/reprocess', {}],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const reply = await ask(method, `/${mine.id}${path}`, body, other);
      expect([path, reply.status]).to.equal([path, 404]);
    }
    expect(JSON.stringify((await ask('GET', '?limit=200', undefined, other)).body)).to.not.contain(
      'secret.txt',
    );
  });

  it('are found by their names, tags and kinds, and changed', async () => {
    const [found] = await put({ name: 'Ledger 2026.csv', content: 'a,b\n1,2\n' });
    const changed = await ask('PATCH', `/${found.id}`, { tags: ['money', 'money'] });
    expect(changed.body.tags).to.equal(['money']);
    const ids = async (query: string) =>
      (await ask('GET', `?${query}`)).body.documents.map(({ id }: { id: string }) => id);
    expect(await ids('q=ledger')).to.equal([found.id]);
    expect(await ids('tag=money')).to.equal([found.id]);
    expect(await ids('mediaType=text/csv')).to.equal([found.id]);
    expect(await ids('mediaType=text/csv&status=failed')).to.equal([]);
    expect(await ids('tag=mon')).to.equal([]);
    expect((await ask('PATCH', `/${found.id}`, { filename: '../x' })).status).to.equal(400);
  });

  it('are gone with their original after they were deleted', async () => {
    const [gone] = await put({ name: 'gone.txt', content: 'to be deleted' });
    const originals = join(app.home, 'documents', userId);
    expect(await readFile(join(originals, gone.sha256), 'utf8')).to.equal('to be deleted');
    expect((await ask('DELETE', `/${gone.id}`)).status).to.equal(204);
    expect((await ask('GET', `/${gone.id}`)).status).to.equal(404);
    expect(await readdir(originals)).to.not.include(gone.sha256);
    const [anew] = await put({ name: 'gone.txt', content: 'to be deleted' });
    expect(anew.id).to.not.equal(gone.id);
  });

  it('may have the bytes of the quota alone', async () => {
    const content = (n: number) => `${n}`.repeat(200 * 1024);
    const first = await upload(app, token, [{ name: 'large.txt', content: content(1) }]);
    expect(first.status).to.equal(202);
    const second = await upload(app, token, [{ name: 'larger.txt', content: content(2) }]);
    expect([second.status, second.body.code]).to.equal([413, 'quota']);
    const small = await upload(app, token, [
      { name: 'larger.txt', content: content(2) },
      { name: 'small.txt', content: 'fits' },
    ]);
    expect(small.body.documents.map(({ filename }) => filename)).to.equal(['small.txt']);
    await read(first.body.documents[0]?.id ?? '');
    await ask('DELETE', `/${first.body.documents[0]?.id}`);
    const third = await upload(app, token, [{ name: 'larger.txt', content: content(2) }]);
    expect(third.status).to.equal(202);
    for (const { id } of [...small.body.documents, ...third.body.documents]) await read(id);
  });

  it('leave nothing behind that no row refers to', async () => {
    expect(await readdir(join(app.home, 'scratch'))).to.equal([]);
  });
});
