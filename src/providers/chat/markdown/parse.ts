import MarkdownIt, { type MarkdownIt as MarkdownParser, type Token } from 'markdown-it';

const PATH = /\/\/\S+/y;

/** Returns the length of what follows a scheme at that place, 0 if it is no address. */
const lengthOfPath = (text: string, at: number): number => {
  PATH.lastIndex = at;
  return PATH.exec(text)?.[0].length ?? 0;
};

let parser: MarkdownParser | null = null;

/**
 * Returns the parser: CommonMark with tables, strikethrough and bare addresses. HTML is text, and
 * an address stays as it was written. It is made when it is first used, as that takes some
 * milliseconds.
 */
export const markdownParser = (): MarkdownParser => {
  if (parser) return parser;
  parser = new MarkdownIt({ html: false, linkify: true });
  // Only an address with a scheme is one for certain: `package.json` is none.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  parser.linkify.add('ftp:', null).add('//', null);
  // Telegram acts on these when they are tapped. No platform links them here, see `addressRuns`.
  // Those that are written with escapes or in several styles are left to `telegramLines`.
  for (const scheme of ['tg:', 'ton:', 'tonsite:']) {
    parser.linkify.add(scheme, { validate: lengthOfPath });
  }
  parser.normalizeLink = (url) => url;
  parser.normalizeLinkText = (url) => url;
  parser.validateLink = () => true;
  return parser;
};

export type MarkdownToken = Token;
