import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSupported, refusal } from '../bin/version.js';
import { isInstalled, npm } from './install.js';
import { withLock } from './lock.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(root, '.runtime');
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/**
 * By default npm retries after 10 s and 60 s, which is too long to report that there is no
 * network.
 */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000'];

/** Ensures that this script runs in a supported Node: installs the pinned one and runs in it. */
export const ensureRuntime = async () => {
  if (isSupported) return;
  const failure = await withLock(join(root, 'dist/.lock'), installRuntime);
  if (failure === null) await runUnderRuntime();
  console.error(`${refusal} ${failure}`);
  process.exit(1);
};

/**
 * Runs this program again in the Node in .runtime, and exits like it. Returns if that Node is
 * missing.
 */
export const runUnderRuntime = async () => {
  const node = join(FOLDER, 'node_modules', pinned()?.package ?? '', 'bin/node');
  if (!existsSync(node)) return;
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit', env });
  for (const signal of SIGNALS) process.on(signal, () => forward(child, signal));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', (...end) => resolve(end));
  });
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The signal may arrive a moment later.
  await new Promise((resolve) => setTimeout(resolve, 1000));
};

/** A terminal also sends SIGINT to the child, and a second one would end it at once. */
const forward = (child, signal) => {
  if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
};

/** Package with Node for this platform. Its Linux binaries need glibc. */
const pinned = () => {
  const pins = JSON.parse(readFileSync(new URL('runtime.json', import.meta.url), 'utf8'));
  const { glibcVersionRuntime } = process.report.getReport().header;
  const isMusl = process.platform === 'linux' && !glibcVersionRuntime;
  return isMusl ? undefined : pins[`${process.platform}-${process.arch}`];
};

/**
 * Installs the pinned package from a lock file, so that npm checks its integrity. Resolves to the
 * reason of a failure, or null.
 */
const installRuntime = async () => {
  const pin = pinned();
  if (!pin) return 'Install a newer version from https://nodejs.org.';
  const path = `node_modules/${pin.package}`;
  const packages = {
    '': { dependencies: { [pin.package]: pin.version } },
    [path]: { version: pin.version, integrity: pin.integrity },
  };
  if (isInstalled(packages, FOLDER)) return null;
  console.error(
    `adjutant: installing Node ${pin.version}, because this is ${process.versions.node}`,
  );
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(packages['']));
  writeFileSync(
    join(FOLDER, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages }),
  );
  const log = join(FOLDER, 'npm.log');
  const output = openSync(log, 'w');
  const args = [
    'ci',
    '--prefix',
    FOLDER,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    ...RETRIES,
  ];
  const code = await npm(FOLDER, args, { stdio: ['ignore', output, output] });
  if (code === 0) return null;
  const cause =
    /^npm error code (\w+)$/m.exec(readFileSync(log, 'utf8'))?.[1] ?? `exit code ${code}`;
  return `npm could not install ${pin.package}@${pin.version} (${cause}).`;
};
