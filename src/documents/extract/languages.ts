import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** The package that every language of the recognition has beside it. */
const require = createRequire(import.meta.url);
export const DEFAULT_LANGUAGE = 'eng';

/** Lists Tesseract's codes of the languages whose data is installed. */
export const installedLanguages = async (): Promise<string[]> => {
  const folders = require.resolve.paths('@tesseract.js-data') ?? [];
  const found = new Set<string>();
  for (const folder of folders) {
    for (const name of await readdir(`${folder}/@tesseract.js-data`).catch(() => [])) {
      found.add(name);
    }
  }
  return [...found].sort();
};

/** Returns the folder of the data of an installed language. */
export const languageFolder = (code: string): string =>
  dirname(require.resolve(`@tesseract.js-data/${code}/package.json`));
