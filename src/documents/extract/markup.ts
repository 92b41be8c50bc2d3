import { parseHTML } from 'linkedom';

const UNREAD = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'SVG', 'IFRAME']);
const BLOCKS = new Set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE DD DIV DL DT FIGCAPTION FIGURE FOOTER FORM H1 H2 H3 H4 H5 H6
  HEADER HR LI MAIN NAV OL P PRE SECTION TABLE TBODY TFOOT THEAD TR UL BODY HTML`.split(/\s+/),
);
const CELLS = new Set(['TD', 'TH']);

/** The part of a DOM node that is used here. */
interface MarkupNode {
  nodeType: number;
  nodeName: string;
  textContent: string | null;
  lastChild: MarkupNode | null;
  previousSibling: MarkupNode | null;
  /** True if it has the attribute; only elements know that. */
  hasAttribute?(name: string): boolean;
}

const ELEMENT = 1;
const TEXT = 3;

/**
 * Returns the text of HTML with its paragraphs. Headings begin with number signs as in Markdown, so
 * that they can be told from the text.
 */
export const textOfMarkup = (html: string): string => {
  const { document } = parseHTML(
    /<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`,
  );
  const pieces: string[] = [];
  // No recursion, since markup may be nested deeper than the stack.
  const waiting: (MarkupNode | string)[] = [document.documentElement];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node === 'string') pieces.push(node);
    else if (node?.nodeType === TEXT) pieces.push((node.textContent ?? '').replace(/\s+/g, ' '));
    else if (node?.nodeType === ELEMENT) visit(node, waiting, pieces);
  }
  return pieces
    .join('')
    .replace(/[^\S\n\t]*\n[^\S\n\t]*/g, '\n')
    .replace(/ {2,}/g, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
};

const visit = (element: MarkupNode, waiting: (MarkupNode | string)[], pieces: string[]): void => {
  const name = element.nodeName.toUpperCase();
  if (UNREAD.has(name) || element.hasAttribute?.('hidden')) return;
  if (name === 'BR') return void pieces.push('\n');
  const isBlock = BLOCKS.has(name);
  const end = isBlock ? (name === 'LI' || name === 'TR' ? '\n' : '\n\n') : '';
  if (isBlock) pieces.push(name === 'LI' || name === 'TR' ? '\n' : '\n\n');
  const heading = /^H([1-6])$/.exec(name)?.[1];
  if (heading) pieces.push(`${'#'.repeat(Number(heading))} `);
  if (name === 'LI') pieces.push('- ');
  waiting.push(CELLS.has(name) ? '\t' : end);
  for (let child = element.lastChild; child; child = child.previousSibling) waiting.push(child);
};
