/** Characters that a shell takes as they are (POSIX, Shell Command Language, 2.2). */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Returns a text as one word of a shell, in quotes where it needs them. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
