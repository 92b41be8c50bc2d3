import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { showSetupCode } from '../src/main.js';
import { residentMb } from './bench/memory.js';
import { until } from './harness/app.js';
import { startDaemon, startRefused } from './harness/daemon.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** What start time and memory are spared, until somebody asks for what needs it. */
const LATE = ['hapi-swagger', 'prom-client', 'qrcode', 'undici'];

const NO_APP = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { readFileSync } = fs;
fs.readFileSync = (path, ...rest) => {
  if (!/\\/app-[\\w-]+\\.cjs$/.test(path)) return readFileSync(path, ...rest);
  throw Object.assign(new Error('gone'), { code: 'MODULE_NOT_FOUND' });
};
syncBuiltinESMExports();`;
/** The part of the bundle that loads while the database opens is not found. */
const WITHOUT_APP = `data:text/javascript;base64,${Buffer.from(NO_APP).toString('base64')}`;

describe('serve', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-main-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('is ready before it has loaded what is rarely used', async () => {
    const entry = [fileURLToPath(new URL('./harness/modules.js', import.meta.url))];
    const daemon = await startDaemon({ home, entry });
    const { stdout } = await daemon.end('SIGTERM');
    const loaded = /^loaded (.+)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
    expect(loaded).to.include('@hapi/hapi');
    expect(loaded.filter((name) => LATE.includes(name))).to.equal([]);
  });

  it('is ready before it has made a schema of its contracts and tools', async () => {
    const entry = [fileURLToPath(new URL('./harness/modules.js', import.meta.url))];
    const daemon = await startDaemon({ home, entry });
    const { stdout } = await daemon.end('SIGTERM');
    // Of a frame on the socket, and of no query at all.
    expect(/^made (.+)$/m.exec(stdout)?.[1]).to.equal('2');
  });

  it('names the file of the setup code where stderr is no terminal', async () => {
    const env = { ADJUTANT_PUBLIC_URL: 'https://hooks.example.org' };
    const daemon = await startDaemon({ home, env });
    const { stdout, stderr } = await daemon.end('SIGTERM');
    expect(stdout).to.match(/^ {2}listening http:.+ {3}public at https:\/\/hooks\.example\.org$/m);
    const file = join(home, 'setup-code');
    expect(stdout.split('\n').filter((line) => line.includes('setup'))).to.equal([
      `  setup     the first account requires the code in ${file} (0600)`,
    ]);
    const code = (await readFile(file, 'utf8')).trim();
    expect(`${stdout}${stderr}`).to.not.contain(code);
  });

  it('shows the setup code on a terminal, and says nothing of it elsewhere', () => {
    const seen: string[] = [];
    const said: string[] = [];
    const to = {
      say: (line: string) => said.push(line),
      terminal: { isTTY: true, write: (text: string) => seen.push(text) },
    };
    showSetupCode({ code: 'abcd-ef01', file: '/srv/setup-code' }, to);
    showSetupCode(null, to);
    expect([seen, said]).to.equal([
      [
        '  setup     the first account requires this code: abcd-ef01\n',
        '            The code is also in the file /srv/setup-code (0600).\n',
      ],
      [],
    ]);
  });

  it('starts where require() loads no ES modules', async () => {
    const serve = fileURLToPath(new URL('./harness/serve.js', import.meta.url));
    const entry = ['--no-experimental-require-module', serve];
    const daemon = await startDaemon({ home, entry });
    const { code, stderr } = await daemon.end('SIGTERM');
    expect({ code, stderr }).to.equal({ code: 0, stderr: '' });
  });

  it('ends where a part of it is missing', async () => {
    const serve = fileURLToPath(new URL('./harness/serve.js', import.meta.url));
    const { code, stderr } = await startRefused({
      home,
      entry: ['--import', WITHOUT_APP, serve],
    });
    expect({ code, stderr }).to.equal({ code: 1, stderr: 'MODULE_NOT_FOUND: gone\n' });
  });

  describe('with the code of the run before', () => {
    const cache = () => join(home, 'cache');
    const serve = fileURLToPath(new URL('./harness/serve.js', import.meta.url));
    const run = async (): Promise<void> => {
      const { code, stderr } = await (await startDaemon({ home, entry: [serve] })).end('SIGTERM');
      expect({ code, stderr }).to.equal({ code: 0, stderr: '' });
    };
    /** Returns the file of the code, with what tells whether it was written anew. */
    const kept = async () => {
      const names = await readdir(cache());
      expect(names.length).to.equal(1);
      const path = join(cache(), names[0] ?? '');
      const { mtimeMs, mode, size } = await stat(path);
      return { path, mtimeMs, size, mode: mode & 0o777 };
    };

    it('keeps it for its user alone, and uses it while it is whole', async () => {
      await run();
      const first = await kept();
      expect(first.path).to.match(/\/app-[\w-]+\.cjs-v[\d.]+-\w+\.v8$/);
      expect([first.mode, (await stat(cache())).mode & 0o777]).to.equal([0o600, 0o700]);
      await run();
      expect(await kept()).to.equal(first);
    });

    it('makes it anew where it is damaged, cut or a pipe, and drops that of another version', async () => {
      await run();
      const first = await kept();
      const code = await readFile(first.path);
      await writeFile(
        first.path,
        code.map((byte, at) => (at === first.size >> 1 ? byte ^ 1 : byte)),
      );
      await run();
      const second = await kept();
      expect(second.mtimeMs).to.not.equal(first.mtimeMs);
      await truncate(second.path, 100);
      await writeFile(join(cache(), 'app-old.cjs-v18.0.0-x64.v8'), 'old');
      await run();
      const third = await kept();
      expect([third.path, third.size > 1_000_000]).to.equal([first.path, true]);
      await rm(third.path);
      execFileSync('mkfifo', [third.path]);
      await run();
      expect((await kept()).size > 1_000_000).to.be.true();
    });

    it('tries code once with which a start has ended, and none that others may have written', async () => {
      await run();
      const first = await kept();
      // As a start leaves it that did not come further.
      await rename(first.path, `${first.path}.tried`);
      await run();
      const second = await kept();
      expect([second.path, second.mtimeMs === first.mtimeMs]).to.equal([first.path, false]);
      await chmod(second.path, 0o666);
      await run();
      const third = await kept();
      expect([third.mode, third.mtimeMs === second.mtimeMs]).to.equal([0o600, false]);
    });

    it('is kept in no folder that is elsewhere', async () => {
      const elsewhere = await mkdtemp(join(tmpdir(), 'adjutant-elsewhere-'));
      await symlink(elsewhere, cache());
      await run();
      expect(await readdir(elsewhere)).to.equal([]);
      await rm(elsewhere, { recursive: true });
    });

    it('starts where it may not be kept', async () => {
      await writeFile(cache(), 'no folder');
      await run();
    });
  });

  it('gives back, once it is idle, what loading has taken', {
    skip: platform !== 'linux',
  }, async () => {
    // As `adjutant serve` does, which does not bound the space for new objects as `adjutant up` does.
    const serve = fileURLToPath(new URL('./harness/serve.js', import.meta.url));
    const daemon = await startDaemon({ home, entry: [serve] });
    const atReady = await residentMb(daemon.pid);
    const idle = await until(
      () => residentMb(daemon.pid),
      (mb) => mb < atReady - 8,
    );
    expect(idle).to.be.above(0);
    await daemon.end('SIGTERM');
  });

  it('asks the same of the thread of the database', async () => {
    const serve = fileURLToPath(new URL('./harness/serve.js', import.meta.url));
    const daemon = await startDaemon({ home, entry: ['--trace-gc', serve] });
    await until(
      async () => [...daemon.said.stdout.matchAll(/\[\d+:(0x\w+)\].* low memory/g)],
      (told) => new Set(told.map(([, heap]) => heap)).size === 2,
    );
    await daemon.end('SIGTERM');
  });
});
