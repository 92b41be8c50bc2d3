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
    `Run: cd ${root} && npm rebuild better-sqlite3 --ignore-scripts=false --allow-scripts=better-sqlite3.\n`;

  it('says in one line that its install script did not run, and the remedy', {
    timeout: 40_000,
  }, async () => {
    const said =
      "Not started: the database's binary was never built: its install script did not run. ";
    expect(await serve()).to.equal([1, said + remedy()]);
  });

  it('says in one line that it does not fit, and the remedy', { timeout: 40_000 }, async () => {
    const folder = join(root, 'node_modules', MODULE, 'build/Release');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'better_sqlite3.node'), 'no library');
    const said = `Not started: the database's binary does not load on this machine with Node ${process.version}. `;
    expect(await serve()).to.equal([1, said + remedy()]);
  });

  it('knows one that was built for another Node', () => {
    const error = new Error(
      "The module '/x.node' was compiled against a different Node.js version using\n" +
        'NODE_MODULE_VERSION 127. This version of Node.js requires NODE_MODULE_VERSION 115.',
    );
    const said = `The database's binary was built for another Node than ${process.version}. Run: cd `;
    expect(binaryFault(error)?.startsWith(said)).to.be.true();
    expect(binaryFault(new Error('disk full'))).to.be.null();
  });
});
