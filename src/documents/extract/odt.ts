import { withoutElements } from './alternatives.js';
import { type BlockKind, type BlockText, createFlowText } from './blocktext.js';
import type { Extraction } from './job.js';
import { openDocument, walkContent } from './opendocument.js';
import { addText } from './text.js';
import { attributeOf, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * Extracts the text of an OpenDocument text (ODF 1.3, part 3) as it is once its tracked changes are
 * accepted. Footnotes come below their paragraph; comments are left out. It is one page unless it is
 * longer than one may be.
 */
export const extractOdt = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const files = await openDocument(bytes, extraction);
  const blocks = createFlowText(extraction);
  await walkContent(files, withoutElements(textVisitor(blocks), isLeftOut));
  addText(blocks.text(), extraction);
};

const BLOCKS: ReadonlyMap<string, BlockKind> = new Map([
  ['table-row', 'row'],
  ['table-cell', 'cell'],
  ['covered-table-cell', 'cell'],
  ['text-box', 'box'],
  ['note-body', 'box'],
]);
const PARAGRAPHS = new Set(['p', 'h']);
/**
 * The elements without text of the document: what tracked changes have deleted, comments, the marks
 * of notes, hints of pronunciation, and descriptions of pictures.
 */
const LEFT_OUT = new Set([
  ...['tracked-changes', 'annotation', 'note-citation', 'ruby-text', 'title', 'desc'],
  ...['sequence-decls', 'variable-decls', 'user-field-decls', 'forms', 'scripts'],
]);

const isLeftOut = (name: string, _: XmlAttributes, parent: string): boolean =>
  // A field of a paragraph that shows the title of the document is also a `title`.
  LEFT_OUT.has(name) && !(name === 'title' && (PARAGRAPHS.has(parent) || parent === 'span'));

/** Ours: the most spaces that stand for one element. */
const MOST_SPACES = 1000;

const textVisitor = (blocks: BlockText): XmlVisitor => {
  /** The levels of the open paragraphs, the outermost first; null: no heading. */
  const paragraphs: (number | null)[] = [];
  // White space at the beginning of a paragraph counts as none, and several as one (part 3, 6.1.2).
  let isAfterSpace = true;
  const addExactly = (text: string): void => {
    if (paragraphs.length > 0) blocks.add(text);
    isAfterSpace = false;
  };
  const begin = (level: number | null): void => {
    paragraphs.push(level);
    isAfterSpace = true;
  };
  return {
    open: (name, attributes) => {
      const kind = BLOCKS.get(name);
      if (kind) blocks.begin(kind);
      else if (name === 'h') begin(levelOf(attributes));
      else if (name === 'p') begin(null);
      else if (name === 's') addExactly(' '.repeat(countOf(attributes)));
      else if (name === 'tab') addExactly('\t');
      else if (name === 'line-break') {
        addExactly('\n');
        isAfterSpace = true;
      }
    },
    text: (piece) => {
      if (paragraphs.length === 0) return;
      const flat = piece.replace(/[ \t\r\n]+/g, ' ');
      blocks.add(isAfterSpace ? flat.replace(/^ /, '') : flat);
      if (flat !== '') isAfterSpace = flat.endsWith(' ');
    },
    close: (name) => {
      if (BLOCKS.has(name)) {
        blocks.end();
        isAfterSpace = false;
      } else if (PARAGRAPHS.has(name)) {
        blocks.endParagraph(paragraphs.pop());
        isAfterSpace = true;
      }
    },
    isDone: blocks.isFull,
  };
};

const levelOf = (attributes: XmlAttributes): number =>
  Math.max(1, Number(attributeOf(attributes, 'outline-level')) || 1);

const countOf = (attributes: XmlAttributes): number =>
  Math.max(1, Math.min(MOST_SPACES, Number(attributeOf(attributes, 'c') ?? '1') || 1));
