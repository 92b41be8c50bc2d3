import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type InstalledModels,
  openInstalledModels,
} from '../../src/capabilities/installedmodels.js';
import { findDamage, verifyOperation } from '../../src/capabilities/verify.js';
import { findModelFiles } from '../../src/providers/llm/llama/files.js';
import { findWhisper } from '../../src/providers/whisper/files.js';
import { placeCapability } from '../harness/capability.js';
import { replaceByPipe, watchPipe } from '../harness/pipe.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const REINSTALL = 'Reinstall it with: adjutant capabilities install house';

describe('a damaged capability', () => {
  let home: string;
  let shelf: InstalledModels;
  let unloaded: string[];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'damage-'));
    shelf = openInstalledModels(home);
    unloaded = [];
    await placeCapability(home, 'house');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const pathOf = (name: string): string => join(home, 'capabilities/house', name);
  const verify = () =>
    verifyOperation({
      shelf,
      unload: async (slug) => void unloaded.push(slug),
      renewed: () => {},
    }).run({
      ...{ id: 'operation', userId: 'user', input: { slug: 'house' }, checkpoint: null },
      signal: new AbortController().signal,
      commit: async () => {},
      refuseForbidden: async () => {},
      progress: () => {},
    });

  it('has a pipe in place of its file, which is never opened', async () => {
    const pipe = pathOf('model.gguf');
    await replaceByPipe(pipe);
    expect(await watchPipe(pipe, verify())).to.equal([
      'ended',
      {
        status: 'failed',
        error: `1 of 1 file is damaged: model.gguf is not a regular file. Its file is damaged. ${REINSTALL}`,
      },
    ]);
  });

  it('with a pipe is not loaded, and is listed with the reason', async () => {
    await replaceByPipe(pathOf('model.gguf'));
    const engine = join(home, 'capabilities/llama/node_modules/node-llama-cpp');
    await mkdir(engine, { recursive: true });
    await writeFile(join(engine, 'package.json'), '{}');
    await expect(findModelFiles(shelf.root, 'house')).to.reject(
      'was not loaded: model.gguf is not a regular file. Reinstall the model with: adjutant capabilities install house',
    );
    const found = await shelf.find('house');
    await writeFile(pathOf('capability.json'), JSON.stringify({ ...found, files: [] }));
    expect(found && (await findDamage(found))).to.equal(
      `model.gguf is not a regular file. Its file is damaged. ${REINSTALL}`,
    );
    await mkdir(join(shelf.root, 'whisper-base'));
    await replaceByPipe(join(shelf.root, 'whisper-base/model.bin'));
    expect((await findWhisper(shelf.root)).models).to.equal([]);
  });

  it('is checked through a link to another disk', async () => {
    const elsewhere = join(home, 'elsewhere.gguf');
    await writeFile(elsewhere, await readFile(pathOf('model.gguf')));
    await rm(pathOf('model.gguf'));
    await symlink(elsewhere, pathOf('model.gguf'));
    expect(await verify()).to.include({ status: 'completed' });
  });

  it('is unloaded and reported on a full disk', async () => {
    await writeFile(pathOf('model.gguf'), 'not a MODEL');
    // A write to this device fails as on a full disk.
    await symlink('/dev/full', pathOf('damaged.txt'));
    expect(await verify()).to.equal({
      status: 'failed',
      error: `1 of 1 file is damaged: model.gguf has a wrong checksum. Its file is damaged. ${REINSTALL}`,
    });
    expect(unloaded).to.equal(['house']);
  });

  it('is downloaded anew where a pipe was put into the partial files', async () => {
    const begin = () => shelf.beginFor('other', 'https://example.org/model.gguf');
    const folder = await begin();
    await writeFile(join(folder, 'model.gguf'), 'a part');
    await begin();
    expect(await readFile(join(folder, 'model.gguf'), 'utf8')).to.equal('a part');
    await replaceByPipe(join(folder, 'model.gguf.etag'));
    await begin();
    await expect(stat(join(folder, 'model.gguf'))).to.reject(/ENOENT/);
    await expect(stat(join(folder, 'model.gguf.etag'))).to.reject(/ENOENT/);
  });
});
