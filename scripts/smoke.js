import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './child.js';
import { prepare, root } from './prepare.js';

const READY_WITHIN_MS = 15_000;

/** Packs the package, installs the tarball as its user would, and runs it away from this folder. */
const main = async () => {
  await prepare();
  const scratch = mkdtempSync(join(tmpdir(), 'adjutant-smoke-'));
  try {
    const command = install(scratch, pack(scratch));
    await use(scratch, command);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const pack = (scratch) => {
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', scratch]));
  return join(scratch, filename);
};

/** Installs the tarball without install scripts, as npm 12 does for who allows none. */
const install = (scratch, tarball) => {
  const prefix = join(scratch, 'prefix');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
  npm(['install', '--global', '--prefix', prefix, ...options, tarball]);
  expectLinked(join(prefix, 'lib/node_modules/adjutant'));
  return join(prefix, 'bin/adjutant');
};

const npm = (args) =>
  execFileSync('npm', ['--loglevel=error', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const use = async (scratch, command) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { PATH: process.env.PATH, HOME: scratch, XDG_CONFIG_HOME: join(scratch, 'config') };
  const adjutant = (...args) =>
    execFileSync(command, args, { cwd: scratch, env, encoding: 'utf8' }).trim();

  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(adjutant('--version') === version, '--version tells the version of the package');

  const home = join(scratch, 'home');
  const serve = ['serve', '--home', home, '--port', new URL(url).port];
  const daemon = spawn(command, serve, { cwd: scratch, env, stdio: ['ignore', 2, 2] });
  const ended = once(daemon, 'exit');
  try {
    expect((await health(url)).status === 'ok', 'serve answers /health');
    const pages = ['/passkeys', '/invite', '/reset'].flatMap((page) =>
      ['', '/page.css', '/page.js'].map((file) => `${page}${file}`),
    );
    for (const path of [...pages, '/passkeys/webauthn.js']) {
      const { ok } = await fetch(`${url}${path}`);
      expect(ok, `${path} is served`);
    }
    const password = join(scratch, 'password');
    writeFileSync(password, 'only for this smoke test', { mode: 0o600 });
    const account = ['--username', 'ada', '--password-file', password];
    const said = adjutant('quickstart', '--server', url, ...account);
    expect(said.includes('curl '), 'quickstart prints a curl line');
  } finally {
    daemon.kill('SIGTERM');
  }
  expect((await ended)[0] === 0, 'SIGTERM ends serve with 0');
};

/** Checks that the links of the README and the documents lead to files of the package. */
const expectLinked = (folder) => {
  const names = readdirSync(join(folder, 'docs')).filter((name) => name.endsWith('.md'));
  expect(names.includes('hooks.md'), 'docs/ holds the documents');
  for (const path of ['README.md', ...names.map((name) => `docs/${name}`)]) {
    const links = [...readFileSync(join(folder, path), 'utf8').matchAll(/\]\(([^)\s#]+)/g)];
    for (const link of new Set(links.map(([, each]) => each))) {
      if (link.startsWith('http')) continue;
      expect(existsSync(join(folder, dirname(path), link)), `${link}, which ${path} links to`);
    }
  }
};

const expect = (holds, claim) => {
  if (!holds) throw new Error(`the packed package fails: ${claim}`);
  console.log(`packed: ${claim}`);
};

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
};

const health = async (url) => {
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end; await sleep(100)) {
    const reply = await fetch(`${url}/health`).catch(() => null);
    if (reply?.ok) return reply.json();
  }
  return { status: 'no answer' };
};

await start(main);
