import { withoutElements } from './alternatives.js';
import { type ArchiveFiles, createFirstUse } from './archive.js';
import { createBlockText } from './blocktext.js';
import type { Extraction } from './job.js';
import { findPart, openPackage, type Relation, readRelations, walkFile } from './openpackage.js';
import type { XmlAttributes } from './xmlwalk.js';

export const extractPptx = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { files, main, relations } = await openPackage(bytes, extraction);
  const slides = await readSlidePaths(files, main, relations);
  const isFirst = createFirstUse(files);
  extraction.total(slides.length);
  for (const path of slides) {
    if (extraction.skip()) continue;
    const text = await slideText({ files, path }, isNumber, extraction);
    const notes = findPart(await readRelations(files, path), 'notesSlide');
    const spoken =
      notes && isFirst(notes) ? await slideText({ files, path: notes }, isAround, extraction) : '';
    if (!extraction.add(spoken === '' ? text : `${text}\n\nNotes:\n${spoken}`)) break;
  }
};

/** The order of slides differs from that of their names. */
const readSlidePaths = async (
  files: ArchiveFiles,
  path: string,
  relations: ReadonlyMap<string, Relation>,
): Promise<string[]> => {
  const slides: string[] = [];
  const isFirst = createFirstUse(files);
  const open = (name: string, attributes: XmlAttributes): void => {
    if (name !== 'sldId') return;
    // An `id` attribute without a prefix has another meaning.
    const key = Object.keys(attributes).find((attribute) => attribute.endsWith(':id')) ?? '';
    const relation = relations.get(attributes[key] ?? '');
    if (relation?.type === 'slide' && isFirst(relation.path)) slides.push(relation.path);
  };
  await walkFile(files, path, { open });
  return slides;
};

const isNumber = (placeholder: string): boolean => placeholder === 'sldNum';

const AROUND = new Set(['sldNum', 'dt', 'hdr', 'ftr']);
const isAround = (placeholder: string): boolean => AROUND.has(placeholder);

const slideText = async (
  { files, path }: { files: ArchiveFiles; path: string },
  isLeftOut: (placeholder: string) => boolean,
  extraction: Extraction,
): Promise<string> => {
  const blocks = createBlockText(extraction);
  let isWanted = true;
  let isText = false;
  let isEmpty = true;
  const add = (text: string): void => {
    blocks.add(text);
    isEmpty = false;
  };
  const visitor = withoutElements(
    {
      open: (name, { type = '' }, parent) => {
        if (name === 'sp') isWanted = true;
        else if (name === 'ph') isWanted = !isLeftOut(type);
        else if (name === 't') isText = isWanted;
        else if (name === 'br' && parent === 'p' && isWanted) add('\n');
        else if (name === 'tr') blocks.begin('row');
        else if (name === 'tc') blocks.begin('cell');
      },
      text: (text) => {
        if (isText) add(text);
      },
      close: (name) => {
        if (name === 't') isText = false;
        else if (name === 'sp') isWanted = true;
        else if (name === 'tr' || name === 'tc') blocks.end();
        else if (name === 'p' && !isEmpty) {
          blocks.endParagraph();
          isEmpty = true;
        }
      },
      isDone: blocks.isFull,
    },
    () => false,
  );
  await walkFile(files, path, visitor);
  return blocks.text().trim();
};
