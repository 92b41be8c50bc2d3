import { readdirSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

const SUFFIX = /(\.(long|speed))?\.test\.(js|tsx?)$/;

class NoSuchTest extends Error {
  constructor(word) {
    super(
      `no test file matches "${word}". ` +
        'Pass a file, a folder or a part of a path under test/: test/cli/ask.test.ts, cli/hooks, hooks',
    );
    this.exitCode = 2;
  }
}

/** Test tiers by file name. */
const TIERS = { long: /\.long\.test\.js$/, speed: /\.speed\.test\.js$/ };
const isFast = (path) => !Object.values(TIERS).some((suffix) => suffix.test(path));

/** The built test files of a tier, or of all, as sorted paths inside test/. */
export const testFiles = (root, tier) =>
  readdirSync(join(root, 'dist/test'), { recursive: true })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.test.js'))
    .filter((path) => !tier || (tier === 'fast' ? isFast(path) : TIERS[tier].test(path)))
    .sort();

/**
 * The files of a tier that match the words, each once; without words the whole tier. A word that
 * matches none of the tier may match files of another one.
 */
export const select = (words, { root, tier }) => {
  const files = testFiles(root, tier);
  if (words.length === 0) return files;
  const all = testFiles(root);
  const named = words.flatMap((word) => {
    const found = [files, all].map((each) => filesOf(word, { root, files: each }));
    if (found[1].length === 0) throw new NoSuchTest(word);
    return found[0].length > 0 ? found[0] : found[1];
  });
  return all.filter((file) => named.includes(file));
};

const filesOf = (word, { root, files }) => {
  const path = relative(root, resolve(root, word)).split(sep).join('/');
  const isWhole = /^(dist\/)?test(\/|$)/.test(path);
  const wanted = path.replace(/^(dist\/)?test(\/|$)/, '').replace(SUFFIX, '');
  return files.filter((file) => {
    const own = `/${file.replace(SUFFIX, '')}/`;
    if (wanted === '') return isWhole;
    return isWhole ? own.startsWith(`/${wanted}/`) : own.includes(`/${wanted}/`);
  });
};
