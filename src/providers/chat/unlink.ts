/** U+200B, zero width space. */
const HIDDEN = '\u200b';

/**
 * Returns the text so that the platform makes no address in it a link. Platforms fetch links for a
 * preview, and the author of untrusted text could have put a secret into the address. The text
 * looks the same.
 */
export const unlinked = (text: string): string =>
  text
    .replace(/:(?=\/\/)/g, `:${HIDDEN}`)
    .replace(/(?<![\p{L}\p{N}])www\d{0,3}(?=\.)/giu, `$&${HIDDEN}`);
