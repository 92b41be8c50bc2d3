import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { badRequest } from '../../kernel/route.js';

export const COMMON_PASSWORDS = '@zxcvbn-ts/language-common/src/passwords.json';
const MAX_COMMON = 10_000;

/** A new password with the names of its owner. */
interface PasswordChoice {
  password: string;
  /** Name and e-mail address. */
  names: readonly (string | null | undefined)[];
}

/**
 * Returns why a password is not allowed (NIST SP 800-63B, 5.1.1.2), as the end of a sentence that
 * begins with it; null if it is allowed. The list is read each time, since it is half a megabyte
 * and rarely needed. It is parsed, which takes 10 ms, only if the password is in it.
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

/** Replies with 400, naming the field, if the password is not allowed. */
export const refuseWeak = async (chosen: PasswordChoice, path = 'password'): Promise<void> => {
  const message = await faultOfPassword(chosen);
  if (message !== null) throw badRequest([{ path, message }]);
};

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * Returns true if the password is the name or address itself, once or more, with characters other
 * than letters around it.
 */
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
  const file = createRequire(import.meta.url).resolve(COMMON_PASSWORDS);
  const text = await readFile(file, 'utf8');
  // The list is written without spaces or escapes that JSON.stringify would not write.
  if (!text.includes(JSON.stringify(folded))) return false;
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) && list.slice(0, MAX_COMMON).includes(folded);
};
