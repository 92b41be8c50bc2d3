import { withoutElements } from './alternatives.js';
import { createFirstUse } from './archive.js';
import { type BlockKind, type BlockText, createFlowText } from './blocktext.js';
import { type ListNumbers, NO_NUMBERS, readNumbers } from './docxnumbers.js';
import { createRunText, noteHidden, type RunText } from './docxruns.js';
import { outlineLevel, readStyles, type WordStyle } from './docxstyles.js';
import { drawnText, joinTexts } from './drawings.js';
import type { Extraction } from './job.js';
import { findPart, openPackage, walkFile } from './openpackage.js';
import { addText } from './text.js';
import { findAttribute, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * Extracts the text of a Word document (ECMA-376-1, WordprocessingML) with tracked changes accepted
 * and list numbers. Footnotes, endnotes, diagrams and charts follow the text. Comments and hidden
 * text are left out.
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
  noteHidden(extraction, runs.hiddenChars());
  if (findPart(relations, 'aFChunk') !== null) extraction.note(EMBEDDED);
  const drawn = await drawnText({ files, extraction, isFirst: createFirstUse(files) }, main);
  addText(joinTexts([blocks.text(), drawn]), extraction);
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
