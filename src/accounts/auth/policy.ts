import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { badRequest } from '../../kernel/route.js';

export const COMMON_PASSWORDS = '@zxcvbn-ts/language-common/src/passwords.json';
const MAX_COMMON = 10_000;

interface PasswordChoice {
  password: string;
  /** Username and e-mail address of the owner. */
  names: readonly (string | null | undefined)[];
}

/**
 * Returns why a password is not allowed (NIST SP 800-63B, 5.1.1.2), as the end of a sentence that
 * begins with it. The list is half a megabyte and rarely needed, so it is read each time, and parsed
 * (10 ms) only if it contains the password.
 */
export const passwordFault = async ({
  password,
  names,
}: PasswordChoice): Promise<string | null> => {
  const folded = fold(password);
  if (names.some((name) => name && isNamed(folded, name)))
    return 'is your own username or e-mail address';
  if (await isCommon(folded)) return 'is one of the 10,000 most common passwords';
  return null;
};

export const refuseWeakPassword = async (
  chosen: PasswordChoice,
  path = 'password',
): Promise<void> => {
  const message = await passwordFault(chosen);
  if (message !== null) throw badRequest([{ path, message }]);
};

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** True if the password is the name once or more, with characters other than letters around it. */
const isNamed = (folded: string, name: string): boolean => {
  const own = fold(name);
  return [own, own.replace(/@.*$/, '')].some((each) => {
    const bare = trimNonLetters(each);
    const letters = trimNonLetters(folded);
    const isRepeated = bare !== '' && letters.replaceAll(bare, '') === '';
    return folded === each || (isRepeated && letters !== '');
  });
};

const trimNonLetters = (text: string): string => text.replace(/^\P{L}+|\P{L}+$/gu, '');

const isCommon = async (folded: string): Promise<boolean> => {
  const file = createRequire(import.meta.url).resolve(COMMON_PASSWORDS);
  const text = await readFile(file, 'utf8');
  // The file has no spaces or escapes that JSON.stringify would not write.
  if (!text.includes(JSON.stringify(folded))) return false;
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) && list.slice(0, MAX_COMMON).includes(folded);
};
