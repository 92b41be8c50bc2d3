import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  ConfinedPathError,
  listInside,
  readInside,
  writeInside,
} from '../../src/kernel/confinedpath.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('inside', () => {
  let base: string;
  let root: string;

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    root = join(base, 'root');
    await mkdir(join(root, 'deep'), { recursive: true });
    await writeFile(join(base, 'secret'), 'the secret');
    await writeFile(join(root, 'deep', 'file'), 'grüße');
    await symlink(join(base, 'secret'), join(root, 'link'));
    await symlink(base, join(root, 'out'));
    await symlink(join(root, 'deep'), join(root, 'in'));
  });
  afterEach(() => rm(base, { recursive: true }));

  const why = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => new Error('it was done'),
      (reason: unknown) => reason,
    );
    return error instanceof ConfinedPathError ? error.message : `${error}`;
  };

  it('reads and writes files, and makes the folders that lead there', async () => {
    await writeInside(root, 'a/b/c.txt', 'one');
    await writeInside(root, './a//b/c.txt', 'two');
    expect((await readInside(root, 'a/b/c.txt', 3)).toString()).to.equal('two');
    expect(await readdir(join(root, 'a/b'))).to.equal(['c.txt']);
  });

  it('goes nowhere else, by name or by link', async () => {
    const paths: [string, string][] = [
      ['../secret', '../secret must not contain ".."'],
      ['deep/../../secret', 'deep/../../secret must not contain ".."'],
      [join(base, 'secret'), `${join(base, 'secret')} must be relative to the folder`],
      ['a\0b', 'The path must not contain a NUL character'],
      ['link', 'link is a symbolic link'],
      ['out/secret', 'out/secret has a parent that is not a folder'],
      ['in/file', 'in/file has a parent that is not a folder'],
      ['deep', 'deep is not a regular file'],
      ['', 'the folder is a folder'],
      ['deep/file/x', 'deep/file/x has a parent that is not a folder'],
      ['nothing', 'nothing does not exist'],
      ['x'.repeat(300), `${'x'.repeat(300)} has a name that is too long`],
    ];
    for (const [path, sentence] of paths) {
      expect(await why(readInside(root, path, 100))).to.equal(sentence);
    }
    expect(await why(readInside(root, 'deep/file', 3))).to.equal('deep/file has more than 3 bytes');
  });

  it('writes nowhere else, and leaves nothing behind', async () => {
    const paths = ['../new', 'link', 'out/new', 'out/a/new', 'in/new', 'deep', '', 'deep/file/new'];
    for (const path of paths) {
      expect(await why(writeInside(root, path, 'x')), path).to.not.startWith('Error');
    }
    expect(await readFile(join(base, 'secret'), 'utf8')).to.equal('the secret');
    expect((await readdir(base)).sort()).to.equal(['root', 'secret']);
    expect((await readdir(root)).sort()).to.equal(['deep', 'in', 'link', 'out']);
    expect(await readdir(join(root, 'deep'))).to.equal(['file']);
  });

  it('lists what is there and follows no link', async () => {
    const { entries, isCut } = await listInside(root, '', { levels: 3, most: 10 });
    expect(entries.map(({ path, kind, size }) => [path, kind, size])).to.equal([
      ['deep', 'folder', 0],
      ['deep/file', 'file', 7],
      ['in', 'other', 0],
      ['link', 'other', 0],
      ['out', 'other', 0],
    ]);
    expect(isCut).to.be.false();
    expect(await listInside(root, '', { levels: 1, most: 2 })).to.include({ isCut: true });
    expect(await why(listInside(root, 'out', { levels: 1, most: 9 }))).to.equal(
      'out has a parent that is not a folder',
    );
  });

  it('is not fooled by a folder that is swapped for a link all the time', {
    skip: process.platform !== 'linux',
  }, async () => {
    await mkdir(join(base, 'bait'));
    await writeFile(join(base, 'bait', 'file'), 'bait');
    const [swapped, away] = [join(root, 'deep'), join(base, 'away')];
    let isOver = false;
    // The writer makes the folder anew in between: not every step comes off.
    const attempt = (step: Promise<unknown>) => step.catch(() => undefined);
    const swap = async (): Promise<void> => {
      while (!isOver) {
        await attempt(rename(swapped, away));
        await attempt(symlink(join(base, 'bait'), swapped));
        await attempt(rm(swapped, { recursive: true }));
        await attempt(rename(away, swapped));
      }
    };
    const swapping = swap();
    const seen = new Set<string>();
    for (let count = 0; count < 400; count++) {
      seen.add(await readInside(root, 'deep/file', 100).then(String, () => 'refused'));
      await writeInside(root, 'deep/new/file', 'mine').catch(() => undefined);
    }
    isOver = true;
    await swapping;
    expect(seen.has('bait')).to.be.false();
    expect(await readdir(join(base, 'bait'))).to.equal(['file']);
  });
});
