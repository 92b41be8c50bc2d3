import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findLocalFiles } from '../../../cli/documents/files.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the files of a folder to upload', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-files-'));
    await mkdir(join(folder, 'scans'));
    for (const name of ['1.txt', '.secret.txt', 'scans/2.md', 'scans/.token.json']) {
      await writeFile(join(folder, name), 'Some words');
    }
  });
  after(() => rm(folder, { recursive: true }));

  for (const suffix of ['', '/', '/.', '/./', '/scans/..']) {
    it(`are all but hidden ones, with the folder written as <folder>${suffix}`, async () => {
      const { files, hidden } = await findLocalFiles(folder + suffix);
      expect(files.map(({ path }) => basename(path))).to.equal(['1.txt', '2.md']);
      expect(hidden).to.equal(2);
    });
  }

  it('are refused by name if one of them cannot be opened', async () => {
    const odd = await mkdtemp(join(tmpdir(), 'adjutant-files-'));
    await writeFile(Buffer.concat([Buffer.from(`${odd}/gr`), Buffer.from([0xfc, 0xdf])]), 'Words');
    await expect(findLocalFiles(odd)).to.reject(/cannot be read. If its name is not valid UTF-8/);
    await rm(odd, { recursive: true });
  });

  it('leave out one that cannot be opened, and name it', async () => {
    const mixed = await mkdtemp(join(tmpdir(), 'adjutant-files-'));
    const odd = Buffer.from([0x2f, 0x67, 0xfc]);
    await writeFile(join(mixed, 'a.txt'), 'Words');
    await writeFile(Buffer.concat([Buffer.from(mixed), odd]), 'Words');
    await mkdir(Buffer.concat([Buffer.from(mixed), odd, Buffer.from('2')]));
    const { files, unreadable } = await findLocalFiles(mixed);
    expect(files).to.equal([{ path: join(mixed, 'a.txt'), bytes: 5 }]);
    expect(unreadable.sort()).to.equal([`${mixed}/g\ufffd`, `${mixed}/g\ufffd2`]);
    await rm(mixed, { recursive: true });
  });
});
