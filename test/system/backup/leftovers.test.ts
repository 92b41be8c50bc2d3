import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openStage, PASSPHRASE, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MODULE = new URL('../../../src/store/thread/database.js', import.meta.url).href;
/** Locks a folder as a check does, and keeps the lock. */
const OWNER = `import('${MODULE}').then(({ takeLock }) => {
  globalThis.lock = takeLock(process.argv[1]);
  process.stdin.resume();
  console.log('locked');
});`;

const lockInProcess = async (folder: string): Promise<{ kill(): Promise<void> }> => {
  const child = spawn(process.execPath, ['-e', OWNER, folder]);
  await once(child.stdout, 'data');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};

describe('a check of a backup', () => {
  let stage: Stage;
  const folders: string[] = [];
  before(async () => {
    stage = await openStage();
    await stage.made();
  });
  after(async () => {
    await stage.stop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const placeFolder = async (prefix: string, withCopy = true): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), prefix));
    folders.push(folder);
    if (!withCopy) return folder;
    await mkdir(join(folder, 'home'));
    await writeFile(join(folder, 'home', 'adjutant.db'), 'a copy');
    return folder;
  };
  const check = async (): Promise<string> => {
    const body = { passphrase: PASSPHRASE };
    const { token } = stage;
    const begun = await stage.app.call('POST', '/api/admin/backups/verify', { token, body });
    return (await stage.ended(begun.body.id)).status;
  };

  it('removes the copy of a killed check, and nothing else', async () => {
    const copy = await placeFolder('adjutant-drill-');
    const beginning = await placeFolder('adjutant-drill-', false);
    const other = await placeFolder('adjutant-other-');
    const owner = await lockInProcess(copy);
    expect([await check(), existsSync(copy)]).to.equal(['done', true]);
    await owner.kill();
    const statuses = [await check(), existsSync(copy), existsSync(beginning), existsSync(other)];
    expect(statuses).to.equal(['done', false, true, true]);
  });
});
