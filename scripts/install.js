import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { run } from './child.js';
import { missingTools, toolchainHelp } from './toolchain.js';

/** Installs the packages if one is missing or not the one locked, and sees that SQLite loads. */
export const install = async (root) => {
  if (!isInstalled(root)) {
    console.error('adjutant: installing packages (better-sqlite3 may compile, about 70 s)');
    await withTools(() =>
      npm(root, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'),
    );
  }
  if (loadError(root) === '') return;
  console.error('adjutant: compiling better-sqlite3 for this Node (about 70 s)');
  await withTools(async () => {
    await npm(root, 'rebuild', 'better-sqlite3', '--loglevel=error');
    const error = loadError(root);
    if (error !== '') throw new Error(`better-sqlite3 does not load: ${error}`);
  });
};

/** npm fails alike without a compiler and without a network: help only where a tool is missing. */
const withTools = async (work) => {
  try {
    await work();
  } catch (error) {
    if (error.exitCode !== undefined) throw error;
    const missing = missingTools();
    if (missing.length === 0) throw error;
    throw new Error(`${error.message}\n${toolchainHelp(missing)}`);
  }
};

/** npm writes what it installed to node_modules/.package-lock.json, after everything else. */
const isInstalled = (root) => {
  const locked = packages(`${root}/package-lock.json`);
  const present = packages(`${root}/node_modules/.package-lock.json`);
  return Object.entries(locked).every(
    ([path, entry]) =>
      path === '' || (path in present ? isSame(present[path], entry) : entry.optional === true),
  );
};

const packages = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
};

const isSame = (one, other) =>
  isDeepStrictEqual([one.version, one.integrity], [other.version, other.integrity]);

/** Why better-sqlite3 cannot open a database under this Node; empty if it can. */
const loadError = (root) => {
  const code = "new (require('better-sqlite3'))(':memory:').close()";
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: root });
  return status === 0 ? '' : (/^\w*Error: (.*)$/m.exec(String(stderr))?.[1] ?? 'it crashed');
};

const npm = async (root, ...args) => {
  const own = process.env.npm_execpath ?? '';
  const isNpm = basename(own) === 'npm-cli.js';
  const command = isNpm ? [process.execPath, own, ...args] : ['npm', ...args];
  const code = await run(command[0], command.slice(1), { cwd: root });
  if (code !== 0) throw new Error(`npm ${args[0]} failed with exit code ${code}`);
};
