import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openStage, PASSPHRASE, type Stage } from '../system/backup/stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const EXECUTABLE = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
const hasProc = process.platform === 'linux';

/** Every file of a database that a command line had open at some moment, looked at in /proc. */
const opened = async (words: string[], env: Record<string, string>): Promise<Set<string>> => {
  const child = spawn(process.execPath, [EXECUTABLE, ...words], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH ?? '', TMPDIR: process.env.TMPDIR ?? '/tmp', ...env },
  });
  child.stdin?.end(`${PASSPHRASE}\n`);
  const found = new Set<string>();
  const look = setInterval(() => {
    for (const path of filesOf(child.pid ?? 0)) if (/\.db/.test(path)) found.add(path);
  }, 1);
  await new Promise((resolve) => child.once('exit', resolve));
  clearInterval(look);
  return found;
};

/** A process, and a file of it, may be gone between two looks. */
const filesOf = (pid: number): string[] => {
  const folder = `/proc/${pid}/fd`;
  const attempt = <T>(look: () => T, otherwise: T): T => {
    try {
      return look();
    } catch (error) {
      if (error instanceof Error && 'code' in error) return otherwise;
      throw error;
    }
  };
  const names = attempt(() => readdirSync(folder), []);
  return names.map((name) => attempt(() => readlinkSync(join(folder, name)), ''));
};

describe(`the command line${hasProc ? '' : ' (skipped: needs /proc)'}`, { skip: !hasProc }, () => {
  let stage: Stage;
  let env: Record<string, string>;
  let scratch: string;

  before(async () => {
    stage = await openStage();
    scratch = await mkdtemp(join(tmpdir(), 'adjutant-open-'));
    const { url, home } = stage.app;
    const token = { ADJUTANT_TOKEN: stage.token, ADJUTANT_URL: url, ADJUTANT_HOME: home };
    env = { ...token, HOME: scratch, TMPDIR: scratch };
  });
  after(async () => {
    await stage.stop();
    await rm(scratch, { recursive: true });
  });

  for (const words of [
    ['hooks', 'list'],
    ['status'],
    ['doctor'],
    ['audit', 'verify'],
    ['backup', 'list'],
    ['backup', 'create', '--passphrase-file', '-'],
    ['backup', 'verify', '--passphrase-file', '-'],
  ]) {
    it(`opens no database: ${words.join(' ')}`, async () => {
      expect([...(await opened(words, env))]).to.equal([]);
    });
  }

  it('opens a temporary copy alone to verify a file', async () => {
    const { file } = await stage.made();
    const words = ['backup', 'verify', file, '--passphrase-file', '-'];
    const found = [...(await opened(words, env))];
    expect(found.length).to.be.above(0);
    expect(found.filter((path) => !path.startsWith(join(scratch, 'adjutant-drill-')))).to.equal([]);
  });

  it('opens the home that it restores into, and no other', async () => {
    const { file } = await stage.made();
    const home = join(scratch, 'new');
    const words = ['--home', home, 'backup', 'restore', file, '--passphrase-file', '-'];
    const found = [...(await opened(words, env))];
    expect(found.length).to.be.above(0);
    expect(found.filter((path) => !path.startsWith(`${home}/`))).to.equal([]);
  });
});
