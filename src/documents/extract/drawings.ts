import { withoutElements } from './alternatives.js';
import { type ArchiveFiles, fileIn } from './archive.js';
import { createBlockText } from './blocktext.js';
import type { Extraction } from './job.js';
import { readRelations, walkFile } from './openpackage.js';

interface DrawnParts {
  files: ArchiveFiles;
  extraction: Extraction;
  /** False for a part that was read before. */
  isFirst(path: string): boolean;
}

/** Parts that a slide, sheet or text shows in a frame: text boxes, diagrams and charts. */
const DRAWN = new Set(['drawing', 'diagramData', 'chart']);

/** Text of the drawings of a part, also of those within them, or an empty string. */
export const drawnText = async (parts: DrawnParts, part: string): Promise<string> => {
  const texts: string[] = [];
  for (const { type, path } of (await readRelations(parts.files, part)).values()) {
    if (!DRAWN.has(type) || !fileIn(parts.files, path) || !parts.isFirst(path)) continue;
    texts.push(await drawingText(parts, path), await drawnText(parts, path));
  }
  return joinTexts(texts);
};

export const joinTexts = (texts: string[]): string => texts.filter(Boolean).join('\n\n');

/** Elements of a series of a chart, each a line of values. */
const SERIES = new Set(['tx', 'cat', 'val', 'xVal', 'yVal']);
const CACHES = new Set(['strCache', 'numCache', 'strLit', 'numLit', 'lvl']);

const blockOf = (name: string, parent: string): 'row' | 'cell' | null => {
  if (name === 'tr' || (parent === 'ser' && SERIES.has(name))) return 'row';
  return name === 'tc' || (name === 'pt' && CACHES.has(parent)) ? 'cell' : null;
};

/** Text of a slide, notes page or drawing (ECMA-376-1, DrawingML). */
export const drawingText = async (
  { files, extraction }: Pick<DrawnParts, 'files' | 'extraction'>,
  path: string,
  /** Kinds of placeholders that are left out. */
  isLeftOut: (placeholder: string) => boolean = () => false,
): Promise<string> => {
  const blocks = createBlockText(extraction);
  const open: boolean[] = [];
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
        const kind = blockOf(name, parent);
        open.push(kind !== null);
        if (kind) blocks.begin(kind);
        if (name === 'sp') isWanted = true;
        else if (name === 'ph') isWanted = !isLeftOut(type);
        else if (name === 't' || name === 'v') isText = isWanted;
        else if (name === 'br' && parent === 'p' && isWanted) add('\n');
      },
      text: (text) => {
        if (isText) add(text);
      },
      close: (name) => {
        if (open.pop()) {
          blocks.end();
          isEmpty = true;
        }
        if (name === 't' || name === 'v') isText = false;
        else if (name === 'sp') isWanted = true;
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
