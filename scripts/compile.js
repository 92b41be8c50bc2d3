import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from './child.js';

const FOLDERS = ['src', 'cli', 'tui', 'migrations', 'test'];
/** The web page is bundled: the compiler only checks its types. */
const WEB = 'web';
/** The last project writes the declarations of the typed client. */
const PROJECTS = ['.', 'web', 'web/worker', 'tsconfig.client.json'];
const SETTINGS = [
  'scripts/compile.js',
  'scripts/bundle.js',
  'scripts/webbundle.js',
  'tsconfig.json',
  'tsconfig.client.json',
  'package.json',
  'package-lock.json',
];
/** Build programs. The first one writes the API document, which the daemon serves as a file. */
const PROGRAMS = ['dist/src/http/document.js', 'dist/src/triggerlist.js'];

/** Builds dist/ if the sources changed since the last build. */
export const compile = async (root) => {
  const sources = FOLDERS.flatMap((folder) => files(root, folder));
  const stamp = join(root, 'dist/.digest');
  const settings = SETTINGS.filter((path) => existsSync(join(root, path)));
  const digest = digestOf(root, [...settings, ...sources, ...files(root, WEB)]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  console.error('adjutant: building');
  rmSync(stamp, { force: true });
  await emit(root);
  for (const asset of sources.filter((path) => !isTypeScript(path))) {
    cpSync(join(root, asset), join(root, 'dist', asset));
  }
  removeOrphans(root, sources);
  await runPrograms(root);
  // bundle.js imports a package, and this file is loaded before any is installed.
  const { bundle } = await import('./bundle.js');
  await bundle(root);
  const { bundleWeb } = await import('./webbundle.js');
  await bundleWeb(root);
  writeFileSync(stamp, digest);
};

/** Paths of all files in a folder, relative to the root; empty if the folder is missing. */
const files = (root, folder) => {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.'))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? files(root, path) : [path];
    })
    .sort();
};

const digestOf = (root, paths) => {
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

const emit = async (root) => {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const compiler = join(root, 'node_modules/@typescript/native/bin/tsc');
  rmSync(join(root, 'dist/types'), { recursive: true, force: true });
  for (const project of PROJECTS.map((path) => join(root, path)).filter(existsSync)) {
    const code = await run(process.execPath, [compiler, '--project', project]);
    if (code !== 0) throw new Error('the build failed');
  }
};

const runPrograms = async (root) => {
  for (const program of PROGRAMS.map((path) => join(root, path)).filter(existsSync)) {
    const code = await run(process.execPath, [program]);
    if (code !== 0) throw new Error(`the build failed in ${program}`);
  }
};

const isTypeScript = (path) => /\.tsx?$/.test(path);

/** tsc keeps the output of deleted sources, and deleted tests would still run. */
const removeOrphans = (root, sources) => {
  const wanted = new Set(sources.flatMap(outputs));
  const dist = join(root, 'dist');
  for (const path of FOLDERS.flatMap((folder) => files(dist, folder))) {
    if (!wanted.has(path)) rmSync(join(dist, path));
  }
  for (const folder of FOLDERS) removeEmpty(join(dist, folder));
};

const outputs = (path) => {
  if (!isTypeScript(path)) return [path];
  const script = path.replace(/\.tsx?$/, '.js');
  return [script, `${script}.map`];
};

const removeEmpty = (folder) => {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
};
