import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run, start } from './child.js';
import { prepare, root } from './prepare.js';

const DOCUMENT = 'docs/resource.md';
const MAX_FILES = 8;
/** A path on its own line, then the block that creates or changes that file. */
const STEP = /^`(\S+)`\n\n```(\w+)\n(.*?)^```$/gms;
/** The tests generated from the contract, and those of the project structure. */
const TESTS = [
  ...['architecture', 'names', 'api'].map((name) => `test/${name}.test.ts`),
  ...['access', 'examples', 'input', 'isolation', 'scopes'].map(
    (name) => `test/generated/${name}.test.ts`,
  ),
  ...['test/docs', 'test/snippets', 'test/cli/tree.test.ts'],
];
const COMMANDS = ['test/cli/verbs.test.ts', '-g', 'snippets'];

/** Follows the document on adding a resource in a copy of the project, and tests the copy. */
const main = async () => {
  await prepare();
  const steps = readSteps();
  const scratch = mkdtempSync(join(tmpdir(), 'adjutant-resource-'));
  try {
    copyProject(scratch);
    for (const step of steps) follow(scratch, step);
    const biome = join(root, 'node_modules/.bin/biome');
    await must(scratch, biome, ['ci', '.', '--error-on-warnings'], 'the format or the lint');
    await must(scratch, process.execPath, ['scripts/test.js', ...TESTS], 'the tests');
    await must(scratch, process.execPath, ['scripts/test.js', ...COMMANDS], 'the commands');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const readSteps = () => {
  const text = readFileSync(join(root, DOCUMENT), 'utf8');
  const steps = [...text.matchAll(STEP)].map(([, path, language, code]) => ({
    path,
    language,
    code,
  }));
  const paths = new Set(steps.map(({ path }) => path));
  if (paths.size > MAX_FILES) {
    throw new Error(`${DOCUMENT} touches ${paths.size} files, more than ${MAX_FILES}`);
  }
  console.log(`${DOCUMENT}: ${steps.length} steps, ${paths.size} files`);
  return steps;
};

/** Copies the tracked and new files and the build, so that only changed files are compiled. */
const copyProject = (scratch) => {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 1e8 };
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, options).split('\0').filter(Boolean);
  for (const path of files.filter((path) => existsSync(join(root, path)))) {
    cpSync(join(root, path), join(scratch, path));
  }
  cpSync(join(root, 'dist'), join(scratch, 'dist'), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
};

const follow = (scratch, { path, language, code }) => {
  const file = join(scratch, path);
  if (language === 'diff') {
    writeFileSync(file, changed(path, readFileSync(file, 'utf8'), code));
    return;
  }
  if (existsSync(file))
    throw new Error(`${path} already exists: run this in a checkout without the sample`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
};

/** Applies the hunks of a diff, located by their lines. An empty line separates hunks. */
const changed = (path, text, diff) =>
  diff
    .split('\n\n')
    .map((hunk) => hunk.split('\n').filter(Boolean))
    .reduce((all, lines) => {
      const side = (mark) =>
        lines.filter((line) => line[0] !== mark).map((line) => `${line.slice(1)}\n`);
      const [before, after] = [side('+').join(''), side('-').join('')];
      if (all.split(before).length !== 2) {
        throw new Error(`${path} does not have these lines once:\n${before}`);
      }
      return all.replace(before, () => after);
    }, text);

const must = async (cwd, command, args, what) => {
  const code = await run(command, args, { cwd, stdio: 'inherit' });
  if (code !== 0) throw new Error(`${what} of the copy: ended with ${code}`);
};

await start(main);
