import { withoutElements } from './alternatives.js';
import { type ArchiveFiles, createFirstUse, fileIn } from './archive.js';
import { type BlockKind, type BlockText, createBlockText, createFlowText } from './blocktext.js';
import { type ListNumbers, NO_NUMBERS, readNumbers } from './docxnumbers.js';
import { createRunText, noteHidden, type RunText } from './docxruns.js';
import { outlineLevel, readStyles, type WordStyle } from './docxstyles.js';
import { drawnText, joinTexts } from './drawings.js';
import type { Extraction } from './job.js';
import { findPart, openPackage, type Relation, walkFile } from './openpackage.js';
import { addText } from './text.js';
import { findAttribute, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * Extracts the text of a Word document (ECMA-376-1, WordprocessingML) with tracked changes accepted
 * and list numbers. Headers precede the text. Footnotes, endnotes, footers, diagrams and charts
 * follow it. Comments and hidden text are left out.
 */
export const extractDocx = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { files, main, relations } = await openPackage(bytes, extraction);
  const [styleFile, listFile] = [findPart(relations, 'styles'), findPart(relations, 'numbering')];
  const styles = styleFile === null ? NO_STYLES : await readStyles(files, styleFile);
  const numbers = listFile === null ? NO_NUMBERS : await readNumbers(files, listFile);
  const blocks = createFlowText(extraction);
  const runs = createRunText(blocks, styles);
  const notes = [findPart(relations, 'footnotes'), findPart(relations, 'endnotes')];
  for (const path of [main, ...notes]) {
    if (path === null) continue;
    await walkFile(files, path, documentVisitor(blocks, { styles, numbers, runs }));
    if (blocks.isFull()) break;
    blocks.gap();
  }
  const edges: PageEdges = { files, extraction, relations, styles, runs: [runs] };
  const [headers, footers] = [await edgeText(edges, 'header'), await edgeText(edges, 'footer')];
  noteHidden(
    extraction,
    edges.runs.reduce((sum, { hiddenChars }) => sum + hiddenChars(), 0),
  );
  if (findPart(relations, 'aFChunk') !== null) extraction.note(EMBEDDED);
  const drawn = await drawnText({ files, extraction, isFirst: createFirstUse(files) }, main);
  addText(joinTexts([headers, blocks.text(), footers, drawn]), extraction);
};

interface PageEdges {
  files: ArchiveFiles;
  extraction: Extraction;
  relations: ReadonlyMap<string, Relation>;
  styles: WordParts['styles'];
  /** Of all parts that were read. */
  runs: RunText[];
}

/** Sections often repeat a header or footer. Each text is returned once. */
const edgeText = async (
  { files, extraction, relations, styles, runs: all }: PageEdges,
  edge: 'header' | 'footer',
): Promise<string> => {
  const texts = new Set<string>();
  for (const { type, path } of relations.values()) {
    if (type !== edge || !fileIn(files, path)) continue;
    const blocks = createBlockText(extraction);
    const runs = createRunText(blocks, styles);
    all.push(runs);
    await walkFile(files, path, documentVisitor(blocks, { styles, numbers: NO_NUMBERS, runs }));
    texts.add(blocks.text().trim());
  }
  return joinTexts([...texts]);
};

const EMBEDDED =
  'The text of an embedded document was not read. Save the file in Word to include it.';

const NO_STYLES: ReadonlyMap<string, WordStyle> = new Map();

const BLOCKS: ReadonlyMap<string, BlockKind> = new Map([
  ['tr', 'row'],
  ['tc', 'cell'],
  ['txbxContent', 'box'],
]);
/** Content that a tracked change has removed. In properties, it marks the end of a paragraph. */
const REMOVED = new Set(['del', 'moveFrom']);
const NOTES = new Set(['footnote', 'endnote']);

interface WordParts {
  styles: ReadonlyMap<string, WordStyle>;
  numbers: ListNumbers;
  runs: RunText;
}

const isLeftOut = (name: string, attributes: XmlAttributes, parent: string): boolean => {
  if (REMOVED.has(name)) return parent !== 'rPr';
  // Notes with a type are separators.
  if (NOTES.has(name)) return (findAttribute(attributes, 'type') ?? 'normal') !== 'normal';
  // Ruby text, and properties before a tracked change.
  return name === 'rt' || name.endsWith('PrChange');
};

interface OpenParagraph {
  level: number | null;
  isJoined: boolean;
  style: string | null;
  list: string | null;
  listLevel: number | null;
}

const newParagraph = (): OpenParagraph => ({
  ...{ level: null, isJoined: false, style: null, list: null, listLevel: null },
});

const documentVisitor = (blocks: BlockText, { styles, numbers, runs }: WordParts): XmlVisitor => {
  const paragraphs: OpenParagraph[] = [];
  const visitor: XmlVisitor = {
    open: (name, attributes, parent) => {
      const paragraph = paragraphs.at(-1);
      const kind = BLOCKS.get(name);
      if (kind) blocks.begin(kind);
      else if (name === 'p') paragraphs.push(newParagraph());
      else if (paragraph && parent === 'rPr' && REMOVED.has(name)) paragraph.isJoined = true;
      else if (paragraph && (parent === 'pPr' || parent === 'numPr'))
        takeProperty(paragraph, name, attributes, styles);
      runs.open(name, attributes, parent);
    },
    text: runs.text,
    close: (name) => {
      const paragraph = paragraphs.at(-1);
      if (BLOCKS.has(name)) blocks.end();
      else if (name === 'pPr' && paragraph?.list) {
        const { list, listLevel, style } = paragraph;
        const number = numbers.next(list, listLevel, style);
        if (number !== '') blocks.add(`${number} `);
      } else if (name === 'p') {
        paragraphs.pop();
        if (!paragraph?.isJoined) blocks.endParagraph(paragraph?.level);
      }
      runs.close(name);
    },
    isDone: blocks.isFull,
  };
  return withoutElements(visitor, isLeftOut);
};

const takeProperty = (
  paragraph: OpenParagraph,
  name: string,
  attributes: XmlAttributes,
  styles: WordParts['styles'],
): void => {
  const value = findAttribute(attributes, 'val') ?? '';
  if (name === 'pStyle') {
    const { level = null, list = null, listLevel = null } = styles.get(value) ?? {};
    Object.assign(paragraph, { level, list, listLevel, style: value });
  } else if (name === 'outlineLvl') paragraph.level = outlineLevel(value);
  else if (name === 'numId') paragraph.list = value;
  else if (name === 'ilvl') paragraph.listLevel = Number(value);
};
