import { TextDecoder } from 'node:util';

/** A page as it was received. */
export interface PageSource {
  /** The content-type. */
  type: string;
  body: Uint8Array;
  url: string;
}

/** The readable text of a page, and its title. */
export interface PageText {
  title: string;
  text: string;
}

/** Elements without readable text. */
const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object']);
const BLOCKS = new Set(
  (
    'address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hr li main nav ol option p pre section table td th tr ul'
  ).split(' '),
);

/** Returns the text of a page in the charset that its content-type names. */
export const textOfPage = ({ type, body, url }: PageSource): PageText =>
  pageText(decoderFor(type).decode(body), url);

/** Returns the decoder for a content-type; that for UTF-8 if it names no known charset. */
export const decoderFor = (type: string): TextDecoder => {
  const [, charset = 'utf-8'] = /charset\s*=\s*"?([\w-]{1,40})/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
};

/**
 * Ours: the most characters of all addresses for each character of the page, and in all. A link of
 * ten characters may have an address of 8,000, which is mostly that of the page.
 */
const MOST_GROWTH = 16;
const MOST_ADDRESSES = 10_000_000;

/**
 * Returns the text of HTML: one line for each block, and each link followed by its address. It
 * reads the source once from left to right, without going back, even if elements are not closed.
 * Ours: it is deliberately simple and keeps menus and footers. Behind the most characters
 * of addresses, links have none.
 */
export const pageText = (html: string, base: string): PageText => {
  const out: string[] = [];
  let title = '';
  let link: string | null = null;
  let room = Math.min(MOST_ADDRESSES, MOST_GROWTH * html.length);
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open !== at) out.push(html.slice(at, open < 0 ? undefined : open).replace(/\s+/g, ' '));
    if (open < 0) break;
    const tag = tagAt(html, open);
    at = tag.end;
    if (tag.name === 'title' && !tag.isClosing && title === '') {
      const close = endOf(html, 'title', at);
      title = plain(html.slice(at, close));
      at = close;
    } else if (SKIPPED.has(tag.name) && !tag.isClosing) {
      at = endOf(html, tag.name, at);
    } else if (tag.name === 'a') {
      if (link !== null) out.push(` (${link})`);
      link = tag.isClosing || room <= 0 ? null : addressOf(tag.source, base);
      room -= link?.length ?? 0;
    } else if (BLOCKS.has(tag.name)) {
      out.push('\n');
    } else if (tag.name === '') {
      out.push(tag.source);
    }
  }
  return { title, text: tidy(decoded(out.join(''))) };
};

interface Tag {
  /** The name in lower case; empty if the `<` begins no tag. */
  name: string;
  isClosing: boolean;
  source: string;
  /** The position behind the tag. */
  end: number;
}

/** The beginning of a tag: longer names are cut, as none of them is known. */
const TAG = /<(\/?)([a-z!?][a-z0-9-]{0,40})/iy;

const tagAt = (html: string, open: number): Tag => {
  if (html.startsWith('<!--', open)) {
    const close = html.indexOf('-->', open + 4);
    return { name: '!', isClosing: true, source: '', end: close < 0 ? html.length : close + 3 };
  }
  TAG.lastIndex = open;
  const [, slash = '', name = ''] = TAG.exec(html) ?? [];
  if (name === '') return { name, isClosing: false, source: '<', end: open + 1 };
  const end = tagEnd(html, open);
  const source = html.slice(open, end);
  return { name: name.toLowerCase(), isClosing: slash !== '', source, end };
};

/** Returns the position behind the `>` that ends a tag. A `>` within quotes does not end it. */
const tagEnd = (html: string, open: number): number => {
  let quote = '';
  for (let at = open + 1; at < html.length; at++) {
    const letter = html[at] ?? '';
    if (quote !== '') quote = letter === quote ? '' : quote;
    else if (letter === '>') return at + 1;
    else if ((letter === '"' || letter === "'") && html[at - 1] === '=') quote = letter;
  }
  return html.length;
};

/**
 * Returns the position of the closing tag, whatever its case. The lower case of a whole text may
 * have another length, so positions in it are no positions in the text.
 */
const endOf = (html: string, name: string, at: number): number => {
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = at;
  return closing.exec(html)?.index ?? html.length;
};

const addressOf = (tag: string, base: string): string | null => {
  const [, , quoted, bare] = /\shref\s*=\s*("([^"]{1,2000})"|([^\s">]{1,2000}))/i.exec(tag) ?? [];
  const written = decoded(quoted ?? bare ?? '');
  if (written === '' || written.startsWith('#') || !URL.canParse(written, base)) return null;
  const url = new URL(written, base);
  return /^https?:$/.test(url.protocol) ? url.href : null;
};

const plain = (source: string): string => tidy(decoded(source.replace(/\s+/g, ' ')));

const tidy = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/[ \t]+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  laquo: '«',
  raquo: '»',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  copy: '©',
};

const decoded = (text: string): string =>
  text.replace(/&(#x?[0-9a-f]{1,6}|[a-z]{1,8});/gi, (whole, name: string) =>
    name.startsWith('#') ? (characterOf(name.slice(1)) ?? whole) : (named(name) ?? whole),
  );

const named = (name: string): string | undefined =>
  Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;

const characterOf = (digits: string): string | undefined => {
  const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits);
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : undefined;
};
