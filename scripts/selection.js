import { readdirSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

const SUFFIX = /\.test\.(js|tsx?)$/;
/** Options of lab that take the next word as their value, so that it is not taken for a file. */
const VALUED = [
  ...['assert', 'a', 'context-timeout', 'M', 'coverage-exclude', 'coverage-path'],
  ...['coverage-pattern', 'coverage-predicates', 'default-plan-threshold', 'p', 'environment', 'e'],
  ...['globals', 'I', 'ignore', 'grep', 'g', 'id', 'i', 'linter', 'n', 'lint-options'],
  ...['lint-errors-threshold', 'lint-warnings-threshold', 'output', 'o', 'pattern', 'P'],
  ...['reporter', 'r', 'require', 'req', 'retries', 'R', 'seed', 'threshold', 't', 'timeout', 'm'],
  ...['transform', 'T', 'types-test'],
];

/** A word of the command line names no test. */
class NoSuchTest extends Error {
  constructor(word) {
    super(
      `no test file matches "${word}". ` +
        'Give a file, a folder or a part of a path under test/: test/cli/ask.test.ts, cli/hooks, hooks',
    );
    this.exitCode = 2;
  }
}

/** The built test files, as paths inside test/, in the order of their names. */
export const testFiles = (root) =>
  readdirSync(join(root, 'dist/test'), { recursive: true })
    .filter((path) => path.endsWith('.test.js'))
    .map((path) => path.split(sep).join('/'))
    .sort();

/**
 * Takes a command line apart: `options` are lab's, every other word names tests. `files` are all
 * that they name, each once; null where there is no such word. Throws a NoSuchTest.
 */
export const select = (args, { root, files }) => {
  const isValue = (at) => at > 0 && VALUED.some((name) => args[at - 1] === dashed(name));
  const isOption = (word, at) => word.startsWith('-') || isValue(at);
  const words = args.filter((word, at) => !isOption(word, at));
  const named = words.flatMap((word) => filesOf(word, { root, files }));
  return {
    options: args.filter(isOption),
    files: words.length === 0 ? null : files.filter((file) => named.includes(file)),
  };
};

const dashed = (name) => (name.length === 1 ? `-${name}` : `--${name}`);

const filesOf = (word, { root, files }) => {
  const path = relative(root, resolve(root, word)).split(sep).join('/');
  const isWhole = /^(dist\/)?test(\/|$)/.test(path);
  const wanted = path.replace(/^(dist\/)?test(\/|$)/, '').replace(SUFFIX, '');
  const found = files.filter((file) => {
    const own = `/${file.replace(SUFFIX, '')}/`;
    if (wanted === '') return isWhole;
    return isWhole ? own.startsWith(`/${wanted}/`) : own.includes(`/${wanted}/`);
  });
  if (found.length === 0) throw new NoSuchTest(word);
  return found;
};
