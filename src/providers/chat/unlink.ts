/** U+200B, zero width space. */
const HIDDEN = '\u200b';

/**
 * The text with no address left in it that a platform would make a link of, and fetch to show what is
 * behind it: a stranger could have put a secret into the address. It reads as before.
 */
export const unlinked = (text: string): string =>
  text
    .replace(/:(?=\/\/)/g, `:${HIDDEN}`)
    .replace(/(?<![\p{L}\p{N}])www\d{0,3}(?=\.)/giu, `$&${HIDDEN}`);
