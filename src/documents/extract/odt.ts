import { withoutElements } from './alternatives.js';
import { fileIn } from './archive.js';
import { type BlockKind, type BlockText, createBlockText, createFlowText } from './blocktext.js';
import { noteHidden } from './docxruns.js';
import { joinTexts } from './drawings.js';
import type { Extraction } from './job.js';
import { createOdtNumbers, type OdtNumbers } from './odtnumbers.js';
import { openDocument, STYLES, walkContent } from './opendocument.js';
import { addText } from './text.js';
import { findAttribute, walkXml, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * Extracts an OpenDocument text (ODF 1.3, part 3) with tracked changes accepted and list numbers.
 * Headers precede the text, footers follow it, and footnotes follow their paragraph. Comments and
 * hidden text are left out.
 */
export const extractOdt = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const files = await openDocument(bytes, extraction);
  const blocks = createFlowText(extraction);
  const hiding = createHiding();
  const numbers = createOdtNumbers();
  const edges = createEdges(extraction, { hiding, numbers });
  const styles = fileIn(files, STYLES);
  if (styles) await walkXml(await styles(), withoutElements(edges.visitor, isLeftOut));
  const body = textVisitor(blocks, { hiding, numbers });
  await walkContent(files, withoutElements(body, isOutsideBody));
  noteHidden(extraction, hiding.chars());
  addText(joinTexts([edges.text('header'), blocks.text(), edges.text('footer')]), extraction);
};

type Edge = 'header' | 'footer';

/** Headers and footers of the page styles (ODF 1.3, part 3, 16.10 to 16.13), each text once. */
const createEdges = (extraction: Extraction, { hiding, numbers }: TextParts) => {
  const texts = { header: new Set<string>(), footer: new Set<string>() };
  let open: { name: string; edge: Edge; blocks: BlockText; inner: XmlVisitor } | null = null;
  const visitor: XmlVisitor = {
    open: (name, attributes, parent) => {
      const edge = /^(header|footer)(-left|-first)?$/.exec(name)?.[1];
      if (open) open.inner.open?.(name, attributes, parent);
      else if (parent === 'master-page' && (edge === 'header' || edge === 'footer')) {
        if (findAttribute(attributes, 'display') === 'false') return;
        const blocks = createBlockText(extraction);
        open = { name, edge, blocks, inner: textVisitor(blocks, { hiding, numbers }) };
      } else {
        hiding.takeStyle(name, attributes);
        numbers.takeStyle(name, attributes);
      }
    },
    text: (text) => open?.inner.text?.(text),
    close: (name) => {
      if (open?.name !== name) return void open?.inner.close?.(name);
      texts[open.edge].add(open.blocks.text().trim());
      open = null;
    },
  };
  return { visitor, text: (edge: Edge): string => joinTexts([...texts[edge]]) };
};

const HIDERS = new Set(['p', 'h', 'span', 'section', 'hidden-text']);

/** ODF 1.3, part 3, 20.324 and 19.794. */
const createHiding = () => {
  const hiddenStyles = new Set<string>();
  const open: boolean[] = [];
  let style = '';
  let chars = 0;
  const isHider = (name: string, attributes: XmlAttributes): boolean =>
    hiddenStyles.has(findAttribute(attributes, 'style-name') ?? '') ||
    (name === 'section' && findAttribute(attributes, 'display') === 'none') ||
    (name === 'hidden-text' && findAttribute(attributes, 'is-hidden') === 'true');
  const takeStyle = (name: string, attributes: XmlAttributes): void => {
    if (name === 'style') {
      style = findAttribute(attributes, 'name') ?? '';
      const parent = findAttribute(attributes, 'parent-style-name') ?? '';
      if (hiddenStyles.has(parent)) hiddenStyles.add(style);
    } else if (name === 'text-properties') {
      const display = findAttribute(attributes, 'display');
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
    /** Hidden text is counted. */
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
 * Elements without visible text: deletions, comments, note marks, ruby text and descriptions of
 * images.
 */
const LEFT_OUT = new Set([
  ...['tracked-changes', 'annotation', 'note-citation', 'ruby-text', 'title', 'desc'],
  ...['sequence-decls', 'variable-decls', 'user-field-decls', 'forms', 'scripts'],
  'binary-data',
]);

const isLeftOut = (name: string, _: XmlAttributes, parent: string): boolean =>
  // A field that shows the document title is also a `title` element.
  LEFT_OUT.has(name) && !(name === 'title' && (PARAGRAPHS.has(parent) || parent === 'span'));

/** The page styles of a flat file. */
const isOutsideBody = (name: string, attributes: XmlAttributes, parent: string): boolean =>
  name === 'master-styles' || isLeftOut(name, attributes, parent);

/** Maximum number of spaces per element. */
const MAX_SPACES = 1000;

interface TextParts {
  hiding: Hiding;
  numbers: OdtNumbers;
}

const textVisitor = (blocks: BlockText, { hiding, numbers }: TextParts): XmlVisitor => {
  const paragraphs: (number | null)[] = [];
  // Leading white space is ignored, and several white spaces count as one (part 3, 6.1.2).
  let isAfterSpace = true;
  const addExactly = (text: string): void => {
    if (paragraphs.length > 0 && !hiding.hides(text)) blocks.add(text);
    isAfterSpace = false;
  };
  const begin = (level: number | null): void => {
    paragraphs.push(level);
    isAfterSpace = true;
    const number = numbers.next(level);
    if (number !== '' && !hiding.hides('')) blocks.add(`${number} `);
  };
  return {
    open: (name, attributes) => {
      const kind = BLOCKS.get(name);
      hiding.begin(name, attributes);
      numbers.takeStyle(name, attributes);
      numbers.open(name, attributes);
      if (kind) blocks.begin(kind);
      else if (name === 'h') begin(parseOutlineLevel(attributes));
      else if (name === 'p') begin(null);
      else if (name === 's') addExactly(' '.repeat(parseSpaceCount(attributes)));
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
      numbers.close(name);
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

const parseOutlineLevel = (attributes: XmlAttributes): number =>
  Math.max(1, Number(findAttribute(attributes, 'outline-level')) || 1);

const parseSpaceCount = (attributes: XmlAttributes): number =>
  Math.max(1, Math.min(MAX_SPACES, Number(findAttribute(attributes, 'c') ?? '1') || 1));
