import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { binaryFault } from '../../../src/store/thread/binary.js';
import { projectRoot } from '../../harness/sources.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MODULE = 'better-sqlite3';

/** An installation whose compiled part of SQLite can be spoilt. */
describe('a database binary that does not load', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'adjutant-install-'));
    const from = projectRoot();
    for (const path of [
      'bin',
      'dist/src',
      'dist/daemon',
      'dist/commands',
      'dist/cli',
      'dist/migrations',
      'package.json',
    ]) {
      cpSync(join(from, path), join(root, path), { recursive: true });
    }
    mkdirSync(join(root, 'node_modules'));
    for (const name of readdirSync(join(from, 'node_modules')).filter((each) => each !== MODULE)) {
      symlinkSync(join(from, 'node_modules', name), join(root, 'node_modules', name));
    }
    const module = join(root, 'node_modules', MODULE);
    for (const path of ['lib', 'package.json']) {
      cpSync(join(from, 'node_modules', MODULE, path), join(module, path), { recursive: true });
    }
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const serve = (): Promise<[code: number, stderr: string]> =>
    new Promise((resolve) => {
      const home = join(root, 'home');
      const args = [join(root, 'bin/adjutant.js'), 'serve', '--home', home, '--port', '0'];
      execFile(process.execPath, args, { timeout: 30_000 }, (error, _stdout, stderr) => {
        resolve([Number(error?.code ?? 0), stderr]);
      });
    });
  const remedy = (): string =>
    'Reinstall Adjutant, or compile it (requires python3, make and a C++ compiler): ' +
    `cd ${join(root, 'node_modules', MODULE)} && npx node-gyp rebuild --release --force_build=1.\n`;
  const machine = `${process.platform}-${process.arch} with Node ${process.version}`;

  it('is named in one line with the remedy where the package has none for this machine', async () => {
    const refusal = `Not started: the SQLite binary is missing for ${machine}. `;
    expect(await serve()).to.equal([1, refusal + remedy()]);
  });

  it('is named in one line with the remedy where it does not fit', async () => {
    const folder = join(root, 'node_modules', MODULE, 'build/Release');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'better_sqlite3.node'), 'no library');
    const refusal = `Not started: the SQLite binary does not load on ${machine}. `;
    expect(await serve()).to.equal([1, refusal + remedy()]);
  });

  it('is not blamed for another error', () => {
    expect(binaryFault(new Error('disk full'))).to.be.null();
  });
});
