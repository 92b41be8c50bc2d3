import type { MarkdownRules } from './write.js';

/** U+200B behind an `@` or a `~` keeps the word from being the name of a user or a channel. */
const HIDDEN = '\u200b';

/** Escapes what begins a list, a heading or an underlined heading. */
const escapeStart = (escaped: string): string =>
  escaped
    .replace(/^([ \t]*)([#+-])/, '$1\\$2')
    .replace(/^([ \t]*\d{1,9})([.)])/, '$1\\$2')
    .replace(/^(?=[ \t]*=+[ \t]*$)/, HIDDEN);

/** An `@` that could begin a name, as in `/@all`. One behind a letter is part of a mail address. */
const NAME_SIGN = /(?<![\p{L}\p{N}])@/gu;

/** An `&` that begins a character reference, which would be shown as another character. */
const REFERENCE = /&(?=#?\w{1,32};)/g;

/**
 * The rules of Mattermost. A name in an address is a mention to its server, so there the `@` is
 * percent-encoded, which leads to the same place (RFC 3986, 2.1). An address with a character
 * reference is code, since Mattermost shows another address for it.
 */
export const mattermostRules: MarkdownRules = {
  escape: (text) =>
    text
      .replace(/[\\`*_[\]|>]|~(?=~)/g, '\\$&')
      .replace(NAME_SIGN, `@${HIDDEN}`)
      .replace(/~(?=\w)/g, `~${HIDDEN}`)
      .replace(REFERENCE, '&amp;'),
  escapeStart,
  link: (url) => (url.search(REFERENCE) >= 0 ? `\`${url}\`` : `<${url.replace(NAME_SIGN, '%40')}>`),
  deepestHeading: 6,
  longestFence: 10,
};

/**
 * The rules of Discord. An address between angle brackets is a link without a preview. Code may be
 * fenced with three backquotes only.
 */
export const discordRules: MarkdownRules = {
  escape: (text) =>
    text
      .replace(/[\\`*_[\]|>~]|<(?=[@#:/t])/g, '\\$&')
      .replace(NAME_SIGN, `@${HIDDEN}`)
      .replace(/#(?=\d)/g, `#${HIDDEN}`),
  escapeStart,
  link: (url) => `<${url}>`,
  deepestHeading: 3,
  longestFence: 3,
};
