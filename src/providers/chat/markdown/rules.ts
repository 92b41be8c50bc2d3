import type { MarkdownRules } from './write.js';

/** U+200B after `@` or `~` prevents a user or channel name. */
const HIDDEN = '\u200b';

const escapeStart = (escaped: string): string =>
  escaped
    .replace(/^([ \t]*)([#+-])/, '$1\\$2')
    .replace(/^([ \t]*\d{1,9})([.)])/, '$1\\$2')
    .replace(/^(?=[ \t]*=+[ \t]*$)/, HIDDEN);

/** An `@` that could begin a name, as in `/@all`, but not in a mail address. */
const NAME_SIGN = /(?<![\p{L}\p{N}])@/gu;

/**
 * A colon that could begin the name of an emoji, as in `main.c:100:5`. Times and hardware addresses
 * stay as they are, so that they can be copied.
 */
const EMOJI_SIGN = /:(?=[\w+\\-]+:)(?![\da-f]{2}:)/gi;

/** An `&` that begins a character reference. */
const REFERENCE = /&(?=#?\w{1,32};)/g;

/**
 * The server reads a name in a URL as a mention, so `@` is percent-encoded there (RFC 3986, 2.1). A
 * URL with a character reference is code, since Mattermost shows it differently.
 */
export const mattermostRules: MarkdownRules = {
  escape: (text) =>
    text
      .replace(/[\\`*_[\]|>]|~(?=~)/g, '\\$&')
      .replace(NAME_SIGN, `@${HIDDEN}`)
      .replace(/~(?=\w)/g, `~${HIDDEN}`)
      .replace(EMOJI_SIGN, `:${HIDDEN}`)
      .replace(REFERENCE, '&amp;'),
  escapeStart,
  link: (url) => (url.search(REFERENCE) >= 0 ? `\`${url}\`` : `<${url.replace(NAME_SIGN, '%40')}>`),
  deepestHeading: 6,
  longestFence: 10,
};

/** Angle brackets suppress link previews. Code fences have exactly three backquotes. */
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

/** A number or commit after a name, as in `octo/hello#7`, would be listed in another repository. */
const OTHER_ISSUE = /(?<=[\w.-])([#!&%])(?=\d)/g;
/** Forges know only ASCII letters before an `@` as part of a mail address. */
const FORGE_NAME_SIGN = /(?<![A-Za-z0-9])@|@(?=[0-9a-f]{7})/g;

/** GitHub, GitLab, Gitea and Linear: Markdown with HTML, mentions, formulas and commands. */
export const forgeRules: MarkdownRules = {
  escape: (text) =>
    text
      .replace(/[\\`*_[\]|<>~$]/g, '\\$&')
      .replace(FORGE_NAME_SIGN, `@${HIDDEN}`)
      .replace(OTHER_ISSUE, `$1${HIDDEN}`)
      .replace(REFERENCE, '&amp;'),
  escapeStart: (escaped) => escapeStart(escaped).replace(/^([ \t]*)\//, '$1\\/'),
  link: (url) => `<${url}>`,
  deepestHeading: 6,
  longestFence: 10,
};
