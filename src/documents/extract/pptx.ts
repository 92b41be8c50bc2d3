import { type ArchiveFiles, createFirstUse } from './archive.js';
import { drawingText, drawnText, joinTexts } from './drawings.js';
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
    const parts = { files, extraction, isFirst };
    const text = joinTexts([
      await drawingText(parts, path, isNumber),
      await drawnText(parts, path),
    ]);
    const notes = findPart(await readRelations(files, path), 'notesSlide');
    const spoken = notes && isFirst(notes) ? await drawingText(parts, notes, isAround) : '';
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
