import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { makePrivateFolder } from '../../src/kernel/private.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const noProc = existsSync('/proc/self') ? '' : ' (skipped: there is no /proc)';

describe('makePrivateFolder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-private-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  it('makes a folder and those above it, and leaves what is there', () => {
    const umask = process.umask(0);
    try {
      makePrivateFolder(join(folder, 'a/b'));
      makePrivateFolder(join(folder, 'a/b'));
    } finally {
      process.umask(umask);
    }
    expect(['a', 'a/b'].map((name) => modeOf(join(folder, name)))).to.equal(['700', '700']);
  });

  it('refuses a file in its place, and one above it', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => makePrivateFolder(file)).to.throw(/EEXIST/);
    expect(() => makePrivateFolder(join(file, 'a'))).to.throw(/ENOTDIR/);
  });

  it(`ends where the system makes no folder${noProc}`, { skip: noProc !== '' }, () => {
    expect(() => makePrivateFolder('/proc/nope')).to.throw(/ENOENT/);
    expect(() => makePrivateFolder('/proc/nope/deep')).to.throw(/ENOENT/);
  });
});
