import { cleanText, MAX_ROUNDS, removeInvisible, removeTokenSigns, tokensIn } from './clean.js';
import { isElement, isTextNode, type PageElement, type PageNode } from './tree.js';

export const BLOCKS = new Set(
  (
    'address article aside blockquote br caption center dd details dialog div dl dt fieldset ' +
    'figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol ' +
    'optgroup option p pre search section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);

/** A text node and its offset in its line. */
interface Placed {
  node: PageNode;
  text: string;
}

/**
 * Removes chat-template tokens and invisible characters, also if they are spread over several
 * elements of a line.
 */
export const cleanTexts = (root: PageElement): void => {
  for (const line of collectTextLines(root)) {
    for (const placed of line) placed.text = removeInvisible(placed.text);
    let tokens = tokensIn(whole(line));
    for (let round = 0; tokens.length > 0 && round < MAX_ROUNDS; round++) {
      for (const { from, to } of tokens.reverse()) cutOut(line, from, to);
      tokens = tokensIn(whole(line));
    }
    if (tokens.length > 0) for (const placed of line) placed.text = removeTokenSigns(placed.text);
    for (const { node, text } of line) if (node.textContent !== text) node.textContent = text;
  }
};

const whole = (line: Placed[]): string => line.map(({ text }) => text).join('');

const cutOut = (line: Placed[], from: number, to: number): void => {
  let at = 0;
  for (const placed of line) {
    const { length } = placed.text;
    const [begin, end] = [Math.max(0, from - at), Math.min(length, to - at)];
    if (begin < end) placed.text = placed.text.slice(0, begin) + placed.text.slice(end);
    at += length;
  }
};

const collectTextLines = (root: PageElement): Placed[][] => {
  const lines: Placed[][] = [[]];
  const visit = (element: PageElement): void => {
    for (const node of Array.from(element.childNodes)) {
      if (isTextNode(node)) lines.at(-1)?.push({ node, text: node.textContent ?? '' });
      if (!isElement(node)) continue;
      const isBlock = BLOCKS.has(node.localName);
      if (isBlock) lines.push([]);
      visit(node);
      if (isBlock) lines.push([]);
    }
  };
  visit(root);
  return lines.filter((line) => line.length > 0);
};

/**
 * Maximum growth of all addresses relative to the page. A link of ten characters may have an
 * address of 8,000, mostly that of the page.
 */
const MAX_GROWTH = 16;
const MAX_ADDRESSES = 10_000_000;
const MAX_ADDRESS_LENGTH = 2000;

/** Makes addresses absolute. Keeps only http, https and, for links, mailto. */
export const resolveAddresses = (
  root: PageElement,
  { base, length }: { base: string; length: number },
): void => {
  let room = Math.min(MAX_ADDRESSES, MAX_GROWTH * length);
  const resolve = (element: PageElement, name: string, allowed: RegExp): void => {
    const url = room > 0 ? addressIn(element.getAttribute(name), base, allowed) : null;
    room -= url?.length ?? 0;
    if (url === null) element.removeAttribute(name);
    else element.setAttribute(name, url);
  };
  for (const link of Array.from(root.querySelectorAll('a[href], area[href]'))) {
    resolve(link, 'href', /^(https?|mailto):$/);
  }
  for (const image of Array.from(root.querySelectorAll('img'))) {
    const lazy = image.getAttribute('data-src');
    if (lazy !== null && !/^https?:/.test(image.getAttribute('src') ?? '')) {
      image.setAttribute('src', lazy);
    }
    resolve(image, 'src', /^https?:$/);
    image.setAttribute('alt', cleanText(image.getAttribute('alt') ?? '').slice(0, 200));
  }
};

/** Returns null for other protocols. Removes credentials. */
export const addressIn = (
  written: string | null | undefined,
  base: string,
  allowed = /^https?:$/,
): string | null => {
  const text = (written ?? '').trim();
  if (text === '' || text.startsWith('#') || text.length > MAX_ADDRESS_LENGTH) return null;
  if (!URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  if (!allowed.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url.href;
};
