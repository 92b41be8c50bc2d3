import { withoutElements } from './alternatives.js';
import { type BlockKind, type BlockText, createFlowText } from './blocktext.js';
import { headingLevels, outlineLevel } from './docxstyles.js';
import type { Extraction } from './job.js';
import { openPackage, partOf, walkFile } from './openpackage.js';
import { addText } from './text.js';
import { attributeOf, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * Extracts the text of a Word document (ECMA-376-1, WordprocessingML) as it is once its tracked changes
 * are accepted. Its footnotes and endnotes come after it; comments are left out. It is one page unless
 * it is longer than one may be.
 */
export const extractDocx = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { files, main, relations } = await openPackage(bytes, extraction);
  const styles = partOf(relations, 'styles');
  const levels = styles === null ? new Map() : await headingLevels(files, styles);
  const blocks = createFlowText(extraction);
  const notes = [partOf(relations, 'footnotes'), partOf(relations, 'endnotes')];
  for (const path of [main, ...notes]) {
    if (path === null) continue;
    await walkFile(files, path, documentVisitor(blocks, levels));
    if (blocks.isFull()) break;
    blocks.gap();
  }
  addText(blocks.text(), extraction);
};

/** The elements of a run that stand for characters. */
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['ptab', '\t'],
  ['br', '\n'],
  ['cr', '\n'],
  ['noBreakHyphen', '-'],
]);
const BLOCKS: ReadonlyMap<string, BlockKind> = new Map([
  ['tr', 'row'],
  ['tc', 'cell'],
  ['txbxContent', 'box'],
]);
/** The elements whose content a tracked change has taken away; in properties, the end of a paragraph. */
const TAKEN = new Set(['del', 'moveFrom']);
const NOTES = new Set(['footnote', 'endnote']);
/** The marks at the beginning of notes. */
const MARKS = new Set(['footnoteRef', 'endnoteRef']);

const isLeftOut = (name: string, attributes: XmlAttributes, parent: string): boolean => {
  if (TAKEN.has(name)) return parent !== 'rPr';
  // Notes with a type are lines between the text and the notes.
  if (NOTES.has(name)) return (attributeOf(attributes, 'type') ?? 'normal') !== 'normal';
  // Hints of pronunciation, and properties as they were before a tracked change.
  return name === 'rt' || name.endsWith('PrChange');
};

const documentVisitor = (
  blocks: BlockText,
  levels: ReadonlyMap<string, number | null>,
): XmlVisitor => {
  const paragraphs: { level: number | null; isJoined: boolean }[] = [];
  let isText = false;
  let isAfterMark = false;
  const add = (text: string): void => {
    const piece = isAfterMark ? text.trimStart() : text;
    if (piece !== '') isAfterMark = false;
    blocks.add(piece);
  };
  const visitor: XmlVisitor = {
    open: (name, attributes, parent) => {
      const paragraph = paragraphs.at(-1);
      const value = attributeOf(attributes, 'val') ?? '';
      const kind = BLOCKS.get(name);
      if (kind) blocks.begin(kind);
      else if (name === 'p') paragraphs.push({ level: null, isJoined: false });
      else if (name === 't') isText = true;
      else if (MARKS.has(name)) isAfterMark = true;
      else if (parent === 'r') add(CHARACTERS.get(name) ?? '');
      else if (paragraph && parent === 'rPr' && TAKEN.has(name)) paragraph.isJoined = true;
      else if (paragraph && parent === 'pPr' && name === 'pStyle')
        paragraph.level = levels.get(value) ?? null;
      else if (paragraph && parent === 'pPr' && name === 'outlineLvl')
        paragraph.level = outlineLevel(value);
    },
    text: (text) => {
      if (isText) add(text);
    },
    close: (name) => {
      if (BLOCKS.has(name)) blocks.end();
      else if (name === 't') isText = false;
      else if (name === 'p') {
        const paragraph = paragraphs.pop();
        if (!paragraph?.isJoined) blocks.endParagraph(paragraph?.level);
      }
    },
    isDone: blocks.isFull,
  };
  return withoutElements(visitor, isLeftOut);
};
