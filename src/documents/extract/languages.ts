import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Each language package is installed next to this package. */
const require = createRequire(import.meta.url);
export const DEFAULT_LANGUAGE = 'eng';
const SCOPE = '@tesseract.js-data';
const ADDED = /^tesseract-([A-Za-z_]+)$/;

export const shippedLanguages = async (): Promise<string[]> => {
  const folders = require.resolve.paths(SCOPE) ?? [];
  const found = new Set<string>();
  for (const folder of folders) {
    for (const name of await readdir(`${folder}/${SCOPE}`).catch(() => [])) found.add(name);
  }
  return [...found].sort();
};

export const installedLanguages = async (added: string): Promise<string[]> => {
  const names = await readdir(added).catch(() => []);
  const codes = names.flatMap((name) => ADDED.exec(name)?.[1] ?? []);
  const there = codes.filter((code) => existsSync(addedLanguageFolder(added, code)));
  return [...new Set([...(await shippedLanguages()), ...there])].sort();
};

export const addedLanguageFolder = (added: string, code: string): string =>
  join(added, `tesseract-${code}`, 'node_modules', SCOPE, code);

export const languageFolder = (code: string, added: string | undefined): string => {
  const own = added === undefined ? null : addedLanguageFolder(added, code);
  return own !== null && existsSync(own)
    ? own
    : dirname(require.resolve(`${SCOPE}/${code}/package.json`));
};
