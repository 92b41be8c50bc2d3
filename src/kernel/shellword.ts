/** Characters that need no quotes (POSIX, Shell Command Language, 2.2). */
const PLAIN = /^[\w@%+=:,./-]+$/;

export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
