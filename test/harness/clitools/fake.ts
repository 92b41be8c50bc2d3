import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ToolName } from '../../../src/providers/clitools/tool.js';
import { cliTools } from '../../../src/providers/clitools/tools.js';

/** Steps of a fake tool after it has read its prompt. */
export type Act =
  /** An event, or a text that is not one. */
  | { print: unknown }
  /** An event in which `TOLD` is replaced by the fake's `Surroundings`. */
  | { tell: unknown; reads: string[] }
  | { flood: 'lines' | 'line' }
  | { do: 'hang' | 'die' }
  | { exit: number };

export const TOLD = '@@told@@';

export interface Surroundings {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  stdin: string;
  /** All files below its HOME. */
  home: string[];
  /** Result of reading each path. */
  reads: Record<string, string>;
  /** Command lines of all visible processes. */
  processes: string[];
}

/** A folder for PATH, and a home with logins. */
export interface Bench {
  path: string;
  home: string;
  /** Installs the tool with these steps. */
  lay(name: ToolName, ...acts: Act[]): Promise<void>;
  logIn(name: ToolName): Promise<void>;
  clear(): Promise<void>;
}

const LOGIN = '{"login":"of the tool"}';

export const openBench = async (): Promise<Bench> => {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'adjutant-test-')));
  const path = join(base, 'bin');
  const home = join(base, 'home');
  await mkdir(path);
  await mkdir(home);
  return {
    path,
    home,
    lay: async (name, ...acts) => {
      await writeFile(join(path, name), script(name, acts));
      await chmod(join(path, name), 0o755);
    },
    logIn: async (name) => {
      const [login = ''] = cliTools[name].logins;
      const file = join(home, 'clitools', name, login);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, LOGIN);
    },
    clear: () => rm(base, { recursive: true, force: true }),
  };
};

export const VERSION = '3.2.1';

const script = (name: string, acts: Act[]): string =>
  SCRIPT.replace(SCENE, () => JSON.stringify({ name, acts }));

const SCENE = '@@scene@@';
const SCRIPT = `#!/usr/bin/env node
const fs = require('fs');
const { name, acts } = @@scene@@;
const attempt = (read) => {
  try { return 'read: ' + read(); } catch (error) { return String(error.code); }
};
const around = (stdin, reads) => JSON.stringify({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdin,
  home: fs.readdirSync(process.env.HOME, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => (entry.parentPath ?? entry.path).slice(process.env.HOME.length) + '/' + entry.name)
    .sort(),
  reads: Object.fromEntries(reads.map((path) => [path, attempt(() => fs.readFileSync(path, 'utf8'))])),
  processes: fs.readdirSync('/proc').filter((each) => /^[0-9]+$/.test(each))
    .map((pid) => attempt(() => fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8'))),
});
const say = (text) => new Promise((done) => process.stdout.write(text + '\\n', done));
const line = (event) => (typeof event === 'string' ? event : JSON.stringify(event));
const flood = async (kind) => {
  const much = 'x'.repeat(1024 * 1024);
  for (;;) await (kind === 'line' ? new Promise((done) => process.stdout.write(much, done)) : say(much));
};
const main = async () => {
  if (process.argv.includes('--version')) return say(name + ' ${VERSION} (fake)');
  let stdin = '';
  for await (const piece of process.stdin) stdin += piece;
  for (const act of acts) {
    if ('print' in act) await say(line(act.print));
    if ('tell' in act) {
      const told = JSON.stringify(around(stdin, act.reads)).slice(1, -1);
      await say(line(act.tell).replace('${TOLD}', () => told));
    }
    if ('flood' in act) await flood(act.flood);
    if (act.do === 'hang') await new Promise((done) => setTimeout(done, 1e6));
    if (act.do === 'die') process.kill(process.pid, 'SIGKILL');
    if ('exit' in act) process.exit(act.exit);
  }
};
main();
`;
