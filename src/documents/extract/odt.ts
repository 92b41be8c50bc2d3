import { withoutElements } from './alternatives.js';
import { fileIn } from './archive.js';
import { type BlockKind, type BlockText, createFlowText } from './blocktext.js';
import { noteHidden } from './docxruns.js';
import type { Extraction } from './job.js';
import { openDocument, walkContent } from './opendocument.js';
import { addText } from './text.js';
import { attributeOf, walkXml, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * Extracts the text of an OpenDocument text (ODF 1.3, part 3) as it is once its tracked changes are
 * accepted. Footnotes come below their paragraph; comments and hidden text are left out. It is one page unless it is
 * longer than one may be.
 */
export const extractOdt = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const files = await openDocument(bytes, extraction);
  const blocks = createFlowText(extraction);
  const hiding = createHiding();
  const styles = fileIn(files, 'styles.xml');
  if (styles) await walkXml(await styles(), { open: hiding.takeStyle });
  await walkContent(files, withoutElements(textVisitor(blocks, hiding), isLeftOut));
  noteHidden(extraction, hiding.chars());
  addText(blocks.text(), extraction);
};

/** The elements that may be hidden, by a style of theirs or by themselves. */
const HIDERS = new Set(['p', 'h', 'span', 'section', 'hidden-text']);

/** Follows which text is hidden (ODF 1.3, part 3, 20.324 and 19.794). */
const createHiding = () => {
  const hiddenStyles = new Set<string>();
  const open: boolean[] = [];
  let style = '';
  let chars = 0;
  const isHider = (name: string, attributes: XmlAttributes): boolean =>
    hiddenStyles.has(attributeOf(attributes, 'style-name') ?? '') ||
    (name === 'section' && attributeOf(attributes, 'display') === 'none') ||
    (name === 'hidden-text' && attributeOf(attributes, 'is-hidden') === 'true');
  const takeStyle = (name: string, attributes: XmlAttributes): void => {
    if (name === 'style') {
      style = attributeOf(attributes, 'name') ?? '';
      const parent = attributeOf(attributes, 'parent-style-name') ?? '';
      if (hiddenStyles.has(parent)) hiddenStyles.add(style);
    } else if (name === 'text-properties') {
      const display = attributeOf(attributes, 'display');
      if (display === 'none') hiddenStyles.add(style);
      else if (display !== undefined) hiddenStyles.delete(style);
    }
  };
  return {
    takeStyle,
    begin: (name: string, attributes: XmlAttributes): void => {
      takeStyle(name, attributes);
      if (HIDERS.has(name)) open.push((open.at(-1) ?? false) || isHider(name, attributes));
    },
    end: (name: string): void => {
      if (HIDERS.has(name)) open.pop();
    },
    /** True if a text is hidden, which is counted then. */
    hides: (text: string): boolean => {
      const isHidden = open.at(-1) ?? false;
      if (isHidden) chars += text.length;
      return isHidden;
    },
    chars: (): number => chars,
  };
};

type Hiding = ReturnType<typeof createHiding>;

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
const MAX_SPACES = 1000;

const textVisitor = (blocks: BlockText, hiding: Hiding): XmlVisitor => {
  /** The levels of the open paragraphs, the outermost first; null: no heading. */
  const paragraphs: (number | null)[] = [];
  // White space at the beginning of a paragraph counts as none, and several as one (part 3, 6.1.2).
  let isAfterSpace = true;
  const addExactly = (text: string): void => {
    if (paragraphs.length > 0 && !hiding.hides(text)) blocks.add(text);
    isAfterSpace = false;
  };
  const begin = (level: number | null): void => {
    paragraphs.push(level);
    isAfterSpace = true;
  };
  return {
    open: (name, attributes) => {
      const kind = BLOCKS.get(name);
      hiding.begin(name, attributes);
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
      if (hiding.hides(flat)) return;
      blocks.add(isAfterSpace ? flat.replace(/^ /, '') : flat);
      if (flat !== '') isAfterSpace = flat.endsWith(' ');
    },
    close: (name) => {
      hiding.end(name);
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
  Math.max(1, Math.min(MAX_SPACES, Number(attributeOf(attributes, 'c') ?? '1') || 1));
