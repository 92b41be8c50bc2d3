import MarkdownIt, { type MarkdownIt as MarkdownParser, type Token } from 'markdown-it';

const PATH = /\/\/\S+/y;

const lengthOfPath = (text: string, at: number): number => {
  PATH.lastIndex = at;
  return PATH.exec(text)?.[0].length ?? 0;
};

let parser: MarkdownParser | null = null;

/**
 * CommonMark with tables, strikethrough and bare URLs. HTML is text. Created on first use, since it
 * takes milliseconds.
 */
export const markdownParser = (): MarkdownParser => {
  if (parser) return parser;
  parser = new MarkdownIt({ html: false, linkify: true });
  // Only URLs with a scheme: `package.json` is none.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  parser.linkify.add('ftp:', null).add('//', null);
  // Telegram acts on these when tapped. They are never linked (see `addressRuns`); escaped or
  // mixed-style variants are handled in `telegramLines`.
  for (const scheme of ['tg:', 'ton:', 'tonsite:']) {
    parser.linkify.add(scheme, { validate: lengthOfPath });
  }
  parser.normalizeLink = (url) => url;
  parser.normalizeLinkText = (url) => url;
  parser.validateLink = () => true;
  return parser;
};

export type MarkdownToken = Token;
