import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { upload } from '../harness/upload.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the originals of documents', () => {
  let app: TestApp;
  let ada: { id: string; token: string };
  before(async () => {
    app = await startApp();
    ada = await app.register('ada');
  });
  after(() => app.stop());

  const finding = async () => {
    const { body } = await app.call('GET', '/api/admin/doctor', { token: ada.token });
    return body.findings.find(({ name }: { name: string }) => name === 'documents');
  };

  it('are compared with their hashes by the doctor', async () => {
    expect(await finding()).to.be.undefined();
    const files = ['one', 'two', 'three'].map((name) => ({
      name: `${name}.txt`,
      content: `This is ${name}.`,
    }));
    const { documents } = (await upload(app, ada.token, files)).body;
    expect(await finding()).to.include({
      status: 'ok',
      detail: 'all 3 originals match their hashes',
    });

    const pathOf = (content: string) =>
      join(app.home, 'documents', ada.id, createHash('sha256').update(content).digest('hex'));
    const [one, two] = documents;
    await writeFile(pathOf('This is one.'), 'THIS is one.');
    await rm(pathOf('This is two.'));
    const { status, detail } = await finding();
    expect(status).to.equal('fail');
    expect(detail).to.match(/^originals are missing or changed: .*; all 3 compared$/);
    expect(detail).to.contain([`${one?.id} (one.txt)`, `${two?.id} (two.txt)`]);
    expect(detail).not.to.contain('three.txt');
  });
});
