import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { tellSetupCode } from '../src/main.js';
import { residentMb } from './bench/memory.js';
import { until } from './harness/app.js';
import { startDaemon, startRefused } from './harness/daemon.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** What start time and memory are spared, until somebody asks for what needs it. */
const LATE = ['hapi-swagger', 'prom-client', 'qrcode', 'undici'];

const module = (text: string): string =>
  `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
const NO_APP = `export const resolve = (name, context, next) => {
  if (!/\\/app-[\\w-]+\\.js$/.test(name)) return next(name, context);
  throw Object.assign(new Error('gone'), { code: 'MODULE_NOT_FOUND' });
};`;
/** The part of the bundle that loads while the database opens is not found. */
const WITHOUT_APP = module(
  `import { register } from 'node:module'; register('${module(NO_APP)}');`,
);

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
    expect(stdout).to.match(/^ {2}listening http:.+ {3}others at https:\/\/hooks\.example\.org$/m);
    const file = join(home, 'setup-code');
    expect(stdout.split('\n').filter((line) => line.includes('setup'))).to.equal([
      `  setup     the first account takes the code in ${file} (0600), once`,
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
    tellSetupCode({ code: 'abcd-ef01', file: '/srv/setup-code' }, to);
    tellSetupCode(null, to);
    expect([seen, said]).to.equal([
      [
        '  setup     the first account takes this code, once: abcd-ef01\n',
        '            It also stands in /srv/setup-code (0600).\n',
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
