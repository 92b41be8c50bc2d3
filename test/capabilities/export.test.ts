import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { copyTree, readExported, readSource } from '../../src/capabilities/source.js';
import { systemClock } from '../../src/kernel/clock.js';
import { placeCapability } from '../harness/capability.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('an exported capability', () => {
  let home: string;
  let source: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'export-'));
    source = join(home, 'capabilities');
    await placeCapability(home, 'house');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const telling = (signal = new AbortController().signal) => ({
    ...{ clock: systemClock, signal, bytes: () => {}, note: () => {}, onRetry: () => {} },
  });
  const held = async () => (await readSource(source, [])).held.map(({ slug }) => slug);

  it('is none where its folder is a link', async () => {
    expect(await held()).to.equal(['house']);
    await rename(join(source, 'house'), join(home, 'elsewhere'));
    await symlink(join(home, 'elsewhere'), join(source, 'house'));
    expect(await held()).to.equal([]);
    await expect(readExported(source, 'house')).to.reject(
      `${source} has no house. Export it on a machine with internet access: adjutant capabilities export house --to <folder>`,
    );
  });

  it('has no packages where their folder is a link', async () => {
    const [from, to] = [join(source, 'llama/cache'), join(home, 'copy')];
    await mkdir(join(home, 'elsewhere/deep'), { recursive: true });
    await writeFile(join(home, 'elsewhere/deep/file'), 'a package');
    await mkdir(join(source, 'llama'));
    await symlink(join(home, 'elsewhere'), from);
    await expect(copyTree(from, to, telling())).to.reject(
      `The folder ${from} contains no files. Export the capability again`,
    );
    await rm(from);
    await rename(join(home, 'elsewhere'), from);
    await copyTree(from, to, telling());
    expect((await readdir(to, { recursive: true })).sort()).to.equal(['deep', 'deep/file']);
  });

  it('may be named by no text that changes a terminal', async () => {
    for (const over of [{ name: 'a\u001b[31mb' }, { licence: 'a\nb' }, { name: 'a\u202eb' }]) {
      const { held: all } = await readSource(source, []);
      const [own] = all.map(({ slug: _, bytes: __, exportedId, ...facts }) => ({
        ...facts,
        id: exportedId,
      }));
      const folder = join(source, 'odd');
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'capability.json'), JSON.stringify(own));
      expect(await held()).to.equal(['house', 'odd']);
      await writeFile(join(folder, 'capability.json'), JSON.stringify({ ...own, ...over }));
      expect([over, await held()]).to.equal([over, ['house']]);
      await rm(folder, { recursive: true });
    }
  });
});
