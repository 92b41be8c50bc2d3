import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { makeFreshFolder } from '../../src/capabilities/installedmodels.js';
import {
  createNpmOutputReader,
  runProgramToEnd,
  uncachedMessage,
  unreachableMessage,
} from '../../src/capabilities/npm.js';
import { until, untilMatches } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** An npm that says its own process and one that it starts, and does not end by itself. */
const NPM = `#!/bin/sh
sleep 120 &
echo "$$ $!" > ../pids
wait
`;

/** Another process in place of the daemon, which has that npm install something. */
const WANTS = (module: string, folder: string) => `
import { installPackages } from ${JSON.stringify(module)};
process.execPath = ${JSON.stringify(join(folder, 'bin/node'))};
const signal = new AbortController().signal;
await installPackages(${JSON.stringify(join(folder, 'work'))}, { dependencies: {}, locked: {}, version: '1' }, { folders: ['/usr/bin', '/bin'], signal });
`;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('an installation by npm', () => {
  let folder: string;
  let daemon: ChildProcess | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'npm-'));
  });
  afterEach(async () => {
    daemon?.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  it('tells how many files came, and of the next try', () => {
    const told: unknown[] = [];
    const heard = createNpmOutputReader({
      note: (note) => void told.push(note),
      onRetry: (next) => void told.push(next),
    });
    const url = 'https://packages.example/llama';
    heard(`npm http fetch GET 200 ${url} 31ms (cache miss)\nnpm http fetch GET ${url}`);
    heard(' attempt 1 failed with ECONNREFUSED\n');
    heard(`npm http fetch GET ${url} attempt 2 failed with 503\n`);
    heard(`npm http fetch GET ${url} attempt 3 failed with 503\n`);
    heard(`npm http fetch GET 200 ${url} 31ms (cache miss)\nadded 2 packages\n`);
    const [first, second] = [10_000, 60_000].map((pauseMs) => ({ of: 3, pauseMs }));
    expect(told).to.equal([
      'npm downloaded 1 file',
      { ...first, attempt: 2, reason: unreachableMessage(`${url} ECONNREFUSED`) },
      { ...second, attempt: 3, reason: 'packages.example failed with 503' },
      'npm downloaded 2 files',
    ]);
  });

  it('names the registry that it did not reach', () => {
    const said =
      'code EAI_AGAIN; syscall getaddrinfo; request to https://packages.example/node-llama-cpp failed, reason: getaddrinfo EAI_AGAIN packages.example';
    expect(unreachableMessage(said)).to.equal(
      'packages.example cannot be reached (EAI_AGAIN). To install without a network, export the capability on another machine and set ADJUTANT_CAPABILITY_SOURCE to the folder',
    );
    expect(unreachableMessage('code EINTEGRITY; sha512 is another one')).to.be.null();
  });

  it('asks for another export where a package is not in the cache', () => {
    const output =
      'code ENOTCACHED; request to https://registry.example/x failed: cache mode is only-if-cached';
    expect(uncachedMessage(output)).to.equal(
      'The exported capability is incomplete: npm did not find a package in its cache. Export the capability again',
    );
    expect(uncachedMessage('code E404')).to.be.null();
  });

  it('ends with all its processes once the daemon was killed', async () => {
    await mkdir(join(folder, 'bin'));
    await mkdir(join(folder, 'work'));
    await symlink(process.execPath, join(folder, 'bin/node'));
    await writeFile(join(folder, 'bin/npm'), NPM);
    await chmod(join(folder, 'bin/npm'), 0o755);
    const module = new URL('../../src/capabilities/npm.js', import.meta.url).href;
    await writeFile(join(folder, 'daemon.mjs'), WANTS(module, folder));
    daemon = spawn(process.execPath, [join(folder, 'daemon.mjs')], { stdio: 'inherit' });
    const said = await until(
      () => readFile(join(folder, 'pids'), 'utf8').catch(() => ''),
      (text) => /^\d+ \d+\n$/.test(text),
    );
    const pids = said.trim().split(' ').map(Number);
    expect(pids.map(isAlive)).to.equal([true, true]);
    const ended = once(daemon, 'exit');
    daemon.kill('SIGKILL');
    await ended;
    await untilMatches(async () => pids.filter(isAlive), { length: 0 });
  });

  it('ends with all its processes once it is cancelled', async () => {
    const stop = new AbortController();
    const script = `sleep 120 & echo "$$ $!" > ${join(folder, 'pids')}; wait`;
    const run = { cwd: folder, env: { PATH: '/usr/bin:/bin' }, limitMs: 60_000 };
    const failure = runProgramToEnd('/bin/sh', ['-c', script], { ...run, signal: stop.signal });
    const said = await until(
      () => readFile(join(folder, 'pids'), 'utf8').catch(() => ''),
      (text) => /^\d+ \d+\n$/.test(text),
    );
    stop.abort();
    expect(await failure).to.equal('npm exited with SIGKILL');
    await until(
      async () => said.trim().split(' ').map(Number).filter(isAlive),
      (alive) => alive.length === 0,
    );
  });

  it('begins in a folder in which no other one works', async () => {
    await mkdir(join(folder, 'before/node_modules/left'), { recursive: true });
    await writeFile(join(folder, 'kept'), '');
    const fresh = await makeFreshFolder(folder);
    const other = await makeFreshFolder(folder);
    expect(await readdir(other)).to.equal([]);
    expect([fresh === other, (await readdir(folder)).length]).to.equal([false, 2]);
  });
});
