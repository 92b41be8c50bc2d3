import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  buildTarHeader,
  buildTarPadding,
  endOfTar,
  type FoundEntry,
  readTar,
  type TarEntry,
  TarError,
} from '../../src/kernel/tar.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const file = (name: string, over: Partial<TarEntry> = {}): TarEntry => ({
  name,
  size: 3,
  isExecutable: false,
  mtime: 1_700_000_000,
  ...over,
});
const packed = (entry: TarEntry, bytes = 'abc'): Buffer =>
  Buffer.concat([buildTarHeader(entry), Buffer.from(bytes), buildTarPadding(bytes.length)]);
const whole = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, endOfTar()]);

describe('tar', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-tar-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (bytes: Buffer): string => {
    const path = join(folder, 'a.tar');
    writeFileSync(path, bytes);
    return path;
  };
  const read = (bytes: Buffer): FoundEntry[] => {
    const path = write(bytes);
    const handle = openSync(path, 'r');
    try {
      return [...readTar(handle, statSync(path).size)];
    } finally {
      closeSync(handle);
    }
  };

  const long = `${'a folder/'.repeat(11)}ein Ärger 日本.txt`;

  it('reads what it wrote', () => {
    const entries = [
      file('a'),
      file('b/c', { isExecutable: true }),
      file(long),
      file('x'.repeat(100)),
    ];
    const found = read(whole(...entries.map((entry) => packed(entry))));
    expect(found.map(({ offset: _, ...entry }) => entry)).to.equal(entries);
    const handle = openSync(join(folder, 'a.tar'), 'r');
    for (const { offset } of found) {
      const bytes = Buffer.alloc(3);
      readSync(handle, bytes, 0, 3, offset);
      expect(bytes.toString()).to.equal('abc');
    }
    closeSync(handle);
  });

  it('writes what tar reads', () => {
    const path = write(whole(packed(file('a')), packed(file(long)), packed(file('b'))));
    const env = { ...process.env, LC_ALL: 'C.UTF-8' };
    const names = execFileSync('tar', ['tf', path, '--quoting-style=literal'], { env }).toString();
    expect(names.split('\n')).to.equal(['a', long, 'b', '']);
  });

  it('says sizes that no header holds', () => {
    const size = 2 ** 40;
    const header = buildTarHeader(file('huge', { size }));
    expect(header.includes(`size=${size}\n`)).to.be.true();
    expect(() => read(whole(header))).to.throw(TarError, 'huge is larger than the archive');
  });

  for (const name of ['../a', '/a', 'a//b', 'a/./b', 'a/..', '', 'a\\b', 'a\nb', 'a/']) {
    it(`refuses the name ${JSON.stringify(name)}`, () => {
      expect(() => read(whole(packed(file(name))))).to.throw(TarError);
    });
  }

  it('refuses a name twice', () => {
    expect(() => read(whole(packed(file('a')), packed(file('a'))))).to.throw(
      TarError,
      'the archive contains a twice',
    );
  });

  for (const args of [['--format=gnu'], ['--format=ustar'], ['--format=posix']]) {
    it(`refuses links, folders and owners as tar writes them: ${args}`, () => {
      writeFileSync(join(folder, 'plain'), 'abc');
      execFileSync('ln', ['-s', '/etc/passwd', 'link'], { cwd: folder });
      for (const name of ['link', '.', 'plain']) {
        const path = join(folder, 'a.tar');
        execFileSync('tar', ['cf', path, ...args, '--exclude=a.tar', name], { cwd: folder });
        const handle = openSync(path, 'r');
        expect(() => [...readTar(handle, statSync(path).size)]).to.throw(TarError);
        closeSync(handle);
      }
    });
  }

  it('finds every bit of a header, a padding and the end that was changed', () => {
    const bytes = whole(packed(file('a')), packed(file(long)));
    const contents = read(bytes).map(({ offset }) => offset);
    for (let at = 0; at < bytes.length; at++) {
      if (contents.some((offset) => at >= offset && at < offset + 3)) continue;
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      let entries: FoundEntry[] = [];
      try {
        entries = read(changed);
      } catch (error) {
        expect(error, `byte ${at}`).to.be.instanceof(TarError);
      }
      expect(entries, `byte ${at}`).to.equal([]);
    }
  });

  it('refuses one that is cut short or goes on', () => {
    const bytes = whole(packed(file('a')));
    for (let length = 0; length < bytes.length; length += 128) {
      expect(() => read(bytes.subarray(0, length))).to.throw(TarError);
    }
    expect(() => read(Buffer.concat([bytes, Buffer.alloc(512)]))).to.throw(TarError);
  });
});
