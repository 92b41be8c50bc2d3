import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { run } from './child.js';

/**
 * Installs the packages if one is missing or not the one locked. No script of a package runs:
 * nothing here needs a compiler, and npm 12 blocks such scripts anyway.
 */
export const install = async (root) => {
  if (isInstalled(packages(`${root}/package-lock.json`), root)) return;
  console.error('adjutant: installing packages');
  const options = ['--ignore-scripts', '--include=dev', '--no-audit', '--no-fund'];
  const code = await npm(root, ['ci', ...options, '--loglevel=error']);
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}`);
};

/**
 * Whether a folder has the packages of a lock file. npm writes what it installed to
 * node_modules/.package-lock.json, after everything else.
 */
export const isInstalled = (locked, folder) => {
  const present = packages(`${folder}/node_modules/.package-lock.json`);
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

export const npm = (folder, args, options = {}) => {
  const own = process.env.npm_execpath ?? '';
  const isNpm = basename(own) === 'npm-cli.js';
  const command = isNpm ? [process.execPath, own, ...args] : ['npm', ...args];
  return run(command[0], command.slice(1), { cwd: folder, ...options });
};
