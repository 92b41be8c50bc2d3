import { spawnSync } from 'node:child_process';
import type { ICruiseResult, IDependency } from 'dependency-cruiser';
import { projectRoot } from './sources.js';

const FOLDERS = ['src', 'cli', 'tui', 'web', 'migrations', 'scripts', 'bin'];
const MAX_OUTPUT_BYTES = 256 * 2 ** 20;

/** Runs a program of an installed package. */
export const run = (program: string, args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`node_modules/${program}`, ...args],
    { cwd: projectRoot(), maxBuffer: MAX_OUTPUT_BYTES, encoding: 'utf8' },
  );
  return { status, stdout, output: stdout + stderr };
};

let read: ICruiseResult | undefined;

/** Imports of all files but tests, and violations of .dependency-cruiser.cjs. Read once. */
export const graph = (): ICruiseResult => {
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...FOLDERS];
  read ??= JSON.parse(run('dependency-cruiser/bin/dependency-cruiser.mjs', args).stdout);
  return read as ICruiseResult;
};

/** Files and packages that each file imports. */
export const importsByPath = (): Map<string, IDependency[]> =>
  new Map(graph().modules.map(({ source, dependencies }) => [source, dependencies]));
