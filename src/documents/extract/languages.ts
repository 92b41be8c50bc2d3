import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The package that every language of the recognition has beside it. */
const require = createRequire(import.meta.url);
export const DEFAULT_LANGUAGE = 'eng';
const SCOPE = '@tesseract.js-data';
/** The folders of languages that were added, in the folder of capabilities. */
const ADDED = /^tesseract-([A-Za-z_]+)$/;

/** Lists Tesseract's codes of the languages that came with the daemon. */
export const shippedLanguages = async (): Promise<string[]> => {
  const folders = require.resolve.paths(SCOPE) ?? [];
  const found = new Set<string>();
  for (const folder of folders) {
    for (const name of await readdir(`${folder}/${SCOPE}`).catch(() => [])) found.add(name);
  }
  return [...found].sort();
};

/**
 * Lists Tesseract's codes of the languages whose data is installed: those that came with the daemon,
 * and those in the folder of capabilities.
 */
export const installedLanguages = async (added: string): Promise<string[]> => {
  const names = await readdir(added).catch(() => []);
  const codes = names.flatMap((name) => ADDED.exec(name)?.[1] ?? []);
  const there = codes.filter((code) => existsSync(addedLanguageFolder(added, code)));
  return [...new Set([...(await shippedLanguages()), ...there])].sort();
};

/** Returns the folder of the data of a language that was added. */
export const addedLanguageFolder = (added: string, code: string): string =>
  join(added, `tesseract-${code}`, 'node_modules', SCOPE, code);

/** Returns the folder of the data of an installed language. */
export const languageFolder = (code: string, added: string | undefined): string => {
  const own = added === undefined ? null : addedLanguageFolder(added, code);
  return own !== null && existsSync(own)
    ? own
    : dirname(require.resolve(`${SCOPE}/${code}/package.json`));
};
