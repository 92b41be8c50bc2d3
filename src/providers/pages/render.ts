import TurndownService from 'turndown';
import { removeTokens } from './clean.js';
import { BLOCKS } from './sanitize.js';
import { isElement, isTextNode, type PageElement, type PageNode } from './tree.js';

const UNSHOWN = new Set(['script', 'style', 'title', 'head', 'svg', 'link', 'meta', 'base']);

export const textIn = (root: PageElement, hasAddresses: boolean): string => {
  const out: string[] = [];
  const visit = (node: PageNode, isPre: boolean): void => {
    if (isTextNode(node)) {
      const text = node.textContent ?? '';
      out.push(isPre ? text.replace(/\n/g, KEPT_BREAK) : text.replace(/\s+/g, ' '));
    }
    if (!isElement(node) || UNSHOWN.has(node.localName)) return;
    const { localName } = node;
    const isCell = localName === 'td' || localName === 'th';
    if (BLOCKS.has(localName)) out.push(isCell && !hasAddresses ? '\t' : '\n');
    for (const child of Array.from(node.childNodes)) visit(child, isPre || localName === 'pre');
    const address = localName === 'a' && hasAddresses ? node.getAttribute('href') : null;
    if (address !== null) out.push(` (${address})`);
    if (BLOCKS.has(localName) && !isCell) out.push('\n');
  };
  visit(root, false);
  return removeTokens(tidied(out.join('')));
};

/** Placeholder for a line break that is kept. */
const KEPT_BREAK = '\u2028';

const tidied = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, ''))
    .map((line) => (line.includes(KEPT_BREAK) ? line : line.replace(/ {2,}/g, ' ')))
    .filter((line) => line.trim() !== '')
    .join('\n')
    .replaceAll(KEPT_BREAK, '\n')
    .replace(/^\n+/, '')
    .trimEnd();

export const convertToMarkdown = (root: PageElement): string => {
  const turndown = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '_',
    hr: '---',
  });
  const escapeMarks = turndown.escape.bind(turndown);
  // Text that looks like an element must not become one in Markdown.
  turndown.escape = (text) => escapeMarks(text).replace(/<(?=[a-z/!?])/gi, '\\<');
  turndown.remove(['script', 'style', 'title', 'link', 'meta']);
  turndown.addRule('cells', {
    filter: ['th', 'td'],
    replacement: (content, node) => (isData(node) ? renderCell(content) : `\n\n${content}\n\n`),
  });
  turndown.addRule('rows', {
    filter: 'tr',
    replacement: (content, node) =>
      isData(node) ? renderRow(content, node) : `\n\n${content}\n\n`,
  });
  turndown.addRule('tables', {
    filter: ['table', 'thead', 'tbody', 'tfoot', 'caption'],
    replacement: (content) => `\n\n${content.trim()}\n\n`,
  });
  turndown.addRule('preformatted', {
    filter: (node) => toElement(node).matches('pre:not(:has(> code))'),
    replacement: (_, node) => fenced(toElement(node).textContent ?? ''),
  });
  turndown.addRule('struck', {
    filter: (node) => /^(del|s|strike)$/.test(toElement(node).localName),
    replacement: (content) => (content.trim() === '' ? content : `~~${content}~~`),
  });
  turndown.addRule('images', {
    filter: (node) => toElement(node).matches('img:not([src])'),
    replacement: () => '',
  });
  const source: { toString(): string } = root;
  return removeTokens(turndown.turndown(Object(source)).trim());
};

const fenced = (text: string): string => {
  const ticks = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(ticks + 1);
  return `\n\n${fence}\n${text.replace(/^\n|\n$/g, '')}\n${fence}\n\n`;
};

type TurndownNode = Parameters<TurndownService.ReplacementFunction>[1];

const toElement = (node: TurndownNode): PageElement => Object(node);

const findTable = (node: TurndownNode): PageElement | null => {
  let at: PageElement | null = toElement(node);
  while (at && at.localName !== 'table') at = at.parentNode;
  return at;
};

/** Tables with one column, or with nested tables, are used for layout. */
const isData = (node: TurndownNode): boolean => {
  const table = findTable(node);
  if (!table) return false;
  let isTable = DATA_TABLES.get(table);
  if (isTable === undefined) {
    const hasColumns = table.querySelector('tr > th ~ td, tr > td ~ td, tr > th ~ th') !== null;
    isTable = hasColumns && table.querySelector('table') === null;
    DATA_TABLES.set(table, isTable);
  }
  return isTable;
};
const DATA_TABLES = new WeakMap<PageElement, boolean>();

const renderCell = (content: string): string =>
  ` ${content
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replace(/(?<!\\)\|/g, '\\|')} |`;

const renderRow = (content: string, node: TurndownNode): string => {
  const row = toElement(node);
  const table = findTable(node);
  const isFirst = table?.querySelector('tr') === row;
  const columns = Array.from(row.childNodes).filter(isElement).length;
  const rule = isFirst ? `\n|${' --- |'.repeat(columns)}` : '';
  return `\n|${content.replace(/\n+/g, '')}${rule}`;
};

const SAFE = new Map<string, string[]>(
  Object.entries({
    a: ['href'],
    img: ['src', 'alt'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
    time: ['datetime'],
    ol: ['start'],
  }),
);
for (const name of (
  'abbr article aside b blockquote br caption cite code dd del details div dl dt em figcaption ' +
  'figure h1 h2 h3 h4 h5 h6 hr i ins kbd li mark p pre q s samp section small strong sub summary ' +
  'sup table tbody tfoot thead tr u ul var'
).split(' ')) {
  SAFE.set(name, []);
}
const VOID = new Set(['br', 'hr', 'img']);

/** Keeps only text, structure, links and images. */
export const safeHtml = (root: PageElement): string => {
  const out: string[] = [];
  const visit = (node: PageNode): void => {
    if (isTextNode(node)) out.push(escaped(node.textContent ?? ''));
    if (!isElement(node) || UNSHOWN.has(node.localName)) return;
    const { localName: name } = node;
    const kept = SAFE.get(name);
    if (kept) out.push(`<${name}${renderAttributes(node, kept)}>`);
    for (const child of Array.from(node.childNodes)) visit(child);
    if (kept && !VOID.has(name)) out.push(`</${name}>`);
  };
  visit(root);
  return out.join('').trim();
};

const renderAttributes = (element: PageElement, names: string[]): string =>
  names
    .map((name) => [name, element.getAttribute(name)] as const)
    .filter(([name, value]) => value !== null && isPlainValue(name, value))
    .map(([name, value]) => ` ${name}="${escaped(value ?? '')}"`)
    .join('');

const isPlainValue = (name: string, value: string): boolean => {
  if (name === 'colspan' || name === 'rowspan' || name === 'start') return /^\d{1,4}$/.test(value);
  return name !== 'datetime' || value.length <= 40;
};

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES.get(character) ?? '');
