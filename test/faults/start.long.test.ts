import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { startDaemon, startRefused } from '../harness/daemon.js';
import { mountTmpfs, whyNoMount } from './mount.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const noMount = whyNoMount();
const skipped = noMount === null ? '' : ` (skipped: ${noMount})`;

describe('start', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-start-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  /** One line for the operator, and exit code 1. */
  const refusal = async (folder = home, env: Record<string, string> = {}): Promise<string> => {
    const { code, signal, stderr } = await startRefused({ home: folder, env });
    expect({ code, signal, lines: stderr.trim().split('\n').length }).to.equal({
      code: 1,
      signal: null,
      lines: 1,
    });
    return stderr.trim();
  };
  const file = () => join(home, 'adjutant.db');

  it('refuses a home that is a file', async () => {
    const path = join(home, 'file');
    await writeFile(path, 'kept');
    expect(await refusal(path)).to.include(path);
    expect(await readFile(path, 'utf8')).to.equal('kept');
  });

  it('refuses a port that is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = String(typeof address === 'object' ? address?.port : 0);
    expect(await refusal(home, { ADJUTANT_PORT: port })).to.equal(
      `Port ${port} is already in use. Choose another port with ADJUTANT_PORT or --port`,
    );
    server.close();
  });

  it('refuses a model with the name of the built-in one', async () => {
    const env = { ADJUTANT_MODEL_URL: 'http://127.0.0.1:1/v1', ADJUTANT_MODEL_NAME: 'digest' };
    expect(await refusal(home, env)).to.equal(
      'ADJUTANT_MODEL_NAME must not be digest, which is the name of the built-in model',
    );
  });

  it('refuses to be the second daemon on a home, and leaves the first alone', async () => {
    const first = await startDaemon({ home });
    expect(await refusal()).to.equal(`Another Adjutant already uses the home folder ${home}`);
    expect((await fetch(`${first.url}/health/ready`)).status).to.equal(200);
    expect((await first.end('SIGTERM')).code).to.equal(0);
  });

  it('refuses a damaged database and leaves it untouched', async () => {
    await writeFile(file(), 'This is a letter, not a database. '.repeat(1000));
    const before = await readFile(file());
    expect(await refusal()).to.match(/^The database \S+ is damaged. Nothing was changed/);
    expect(await readFile(file())).to.equal(before);
  });

  it('refuses a newer database and leaves it untouched', async () => {
    await (await startDaemon({ home })).end('SIGTERM');
    const db = new Database(file());
    db.pragma('user_version = 99999');
    db.close();
    const before = await readFile(file());
    expect(await refusal()).to.match(/schema 99999, but this version supports only up to \d+/);
    expect(await readFile(file())).to.equal(before);
  });

  it('refuses a database that another program holds locked', async () => {
    await (await startDaemon({ home })).end('SIGTERM');
    const db = new Database(file());
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
    expect(await refusal()).to.match(
      /^The database \S+ is locked by another program. Stop that program first$/,
    );
    db.close();
  });

  it(`refuses a home that cannot be written to${skipped}`, { skip: noMount !== null }, async () => {
    const folder = join(home, 'disk');
    await mkdir(folder);
    const unmount = mountTmpfs(folder, 16);
    try {
      await (await startDaemon({ home: folder })).end('SIGTERM');
      execFileSync('mount', ['-o', 'remount,ro', folder]);
      expect(await refusal(folder)).to.include(folder);
    } finally {
      unmount();
    }
  });
});
