import { visibleDocument } from '../../providers/pages/hide.js';
import { PageUnreadable } from '../../providers/pages/page.js';
import {
  isElement,
  isTextNode,
  type PageDocument,
  type PageElement,
  type PageNode,
} from '../../providers/pages/tree.js';
import { ExtractFailed } from './job.js';

const BLOCKS = new Set(
  `address article aside blockquote body caption center dd details dialog div dl dt fieldset
  figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol
  optgroup option p pre search section summary table tbody tfoot thead tr ul`.split(/\s+/),
);
const LINES = new Set(['li', 'tr']);
/** Ruby text repeats the word that it explains. */
const UNREAD = new Set(['svg', 'style', 'rt', 'rp']);
const CELLS = new Set(['td', 'th']);

/** Throws ExtractFailed. */
export const textOfMarkup = (html: string, styles = ''): string =>
  textOfBody(parseMarkup(html, styles));

export const titleAndText = (html: string): { title: string | null; text: string } => {
  const document = parseMarkup(html, '');
  const title = document.head.querySelector('title')?.textContent ?? null;
  return { title, text: textOfBody(document) };
};

/** Headings begin with number signs, as in Markdown. */
const textOfBody = ({ body }: PageDocument): string => {
  const pieces: string[] = [];
  // Iterative, because markup may be nested deeper than the stack allows.
  const waiting: (PageNode | string)[] = [body];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') pieces.push(next);
    else if (isTextNode(next)) pieces.push((next.textContent ?? '').replace(/\s+/g, ' '));
    else if (isElement(next)) visit(next, waiting, pieces);
  }
  return pieces
    .join('')
    .replace(/(?<![^\S\n\t])[^\S\n\t]+\n/g, '\n')
    .replace(/\n[^\S\n\t]+/g, '\n')
    .replace(/ {2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
};

const parseMarkup = (html: string, styles: string): PageDocument => {
  try {
    return visibleDocument(html, styles);
  } catch (error) {
    if (!(error instanceof PageUnreadable)) throw error;
    throw new ExtractFailed('too_large', `The HTML of the file ${error.message}`);
  }
};

const visit = (element: PageElement, waiting: (PageNode | string)[], pieces: string[]): void => {
  const { localName: name } = element;
  if (UNREAD.has(name)) return;
  if (name === 'br') return void pieces.push('\n');
  const isBlock = BLOCKS.has(name);
  const end = isBlock ? (LINES.has(name) ? '\n' : '\n\n') : '';
  if (isBlock) pieces.push(end);
  const heading = /^h([1-6])$/.exec(name)?.[1];
  if (heading) pieces.push(`${'#'.repeat(Number(heading))} `);
  if (name === 'li') pieces.push('- ');
  waiting.push(CELLS.has(name) ? '\t' : end);
  for (const child of Array.from(element.childNodes).reverse()) waiting.push(child);
};
