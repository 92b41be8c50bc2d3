import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { badRequest } from '../../kernel/route.js';

const LIST = '@zxcvbn-ts/language-common/src/passwords.json';
const MOST_COMMON = 10_000;

/** A password that is to be, and what its owner is called. */
interface PasswordChoice {
  password: string;
  /** Name and e-mail address. */
  names: readonly (string | null | undefined)[];
}

/**
 * Why a password will not do (NIST SP 800-63B, 5.1.1.2), as the end of a sentence that begins with
 * it; null: it will. The list is read for each, since it is half a megabyte and asked for rarely.
 */
export const faultOfPassword = async ({
  password,
  names,
}: PasswordChoice): Promise<string | null> => {
  const folded = fold(password);
  if (names.some((name) => name && isNamed(folded, name))) return 'is your own name';
  if (await isCommon(folded)) return 'is one of the 10,000 most common ones';
  return null;
};

/** 400 that names the field. */
export const refuseWeak = async (chosen: PasswordChoice, path = 'password'): Promise<void> => {
  const message = await faultOfPassword(chosen);
  if (message !== null) throw badRequest([{ path, message }]);
};

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** The name or address itself, once or more, with whatever is no letter around it. */
const isNamed = (folded: string, name: string): boolean => {
  const own = fold(name);
  return [own, own.replace(/@.*$/, '')].some((each) => {
    const bare = lettersOf(each);
    const letters = lettersOf(folded);
    const isRepeated = bare !== '' && letters.replaceAll(bare, '') === '';
    return folded === each || (isRepeated && letters !== '');
  });
};

const lettersOf = (text: string): string => text.replace(/^\P{L}+|\P{L}+$/gu, '');

const isCommon = async (folded: string): Promise<boolean> => {
  const file = createRequire(import.meta.url).resolve(LIST);
  const list: unknown = JSON.parse(await readFile(file, 'utf8'));
  return Array.isArray(list) && list.slice(0, MOST_COMMON).includes(folded);
};
