import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectRoot } from './sources.js';

export interface Clone {
  folder: string;
  write(files: Record<string, string>): void;
  remove(path: string): void;
  has(path: string): boolean;
  read(path: string): string;
  /** Starts `node <script> ...args`. `environment` extends that of the process. */
  start(command: string[], environment?: Record<string, string>): ChildProcess;
  run(command: string[], environment?: Record<string, string>): Promise<Ended>;
  clear(): void;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** With an empty lock file nothing is missing, so that no test installs packages. */
const LOCK_FILE = '{ "packages": { "": {} } }';

export const cloneProject = (files: Record<string, string>): Clone => {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-clone-'));
  for (const path of ['scripts', 'bin', 'package.json', 'tsconfig.json']) {
    cpSync(join(projectRoot(), path), join(folder, path), { recursive: true });
  }
  linkPackages(folder);
  const clone = cloneIn(folder);
  clone.write({ 'package-lock.json': LOCK_FILE, ...files });
  return clone;
};

/** A real folder with linked entries, so that emptying it does not delete the packages. */
const linkPackages = (folder: string): void => {
  const packages = join(projectRoot(), 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(packages).filter((entry) => entry !== '.package-lock.json')) {
    symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  }
};

const cloneIn = (folder: string): Clone => {
  const start: Clone['start'] = (command, environment = {}) =>
    spawn(process.execPath, command, { cwd: folder, env: { ...process.env, ...environment } });
  return {
    folder,
    start,
    run: async (command, environment) => ended(start(command, environment)),
    write: (files) => {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
    },
    remove: (path) => rmSync(join(folder, path), { recursive: true }),
    has: (path) => existsSync(join(folder, path)),
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
};

/** Exit and full output of a child. */
export const ended = async (child: ChildProcess): Promise<Ended> => {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('The child has no pipes');
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code, stdout: out, stderr: err };
};
