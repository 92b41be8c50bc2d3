import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { TICKED, UNTICKED } from './symbols.js';

/** Units are 1/72 inch. */
interface PdfLine {
  pieces: { x: number; text: string }[];
  /** Baseline. `null` for a gap between lines. */
  y: number | null;
  height: number;
}

interface PageNote {
  text: string;
  x: number;
  y: number;
  /** Whether the note has its own line, such as a comment. */
  isApart: boolean;
}

/**
 * Returns the text in file order. A gap between lines is a blank line. Form values and annotations
 * are at their positions.
 */
export const pageText = async (page: PDFPageProxy): Promise<string> => {
  const lines = await readPageLines(page);
  const notes = (await page.getAnnotations()).flatMap(toPageNotes);
  notes.sort((one, other) => other.y - one.y || one.x - other.x);
  for (const note of notes) place(lines, note);
  return lines.map(({ pieces }) => pieces.map(({ text }) => text).join('')).join('\n');
};

/** Minimum distance between baselines for a gap, in line heights. */
const GAP = 1.8;

const readPageLines = async (page: PDFPageProxy): Promise<PdfLine[]> => {
  const { items } = await page.getTextContent();
  const lines: PdfLine[] = [];
  let line: PdfLine | null = null;
  let last: { y: number; height: number } | null = null;
  for (const item of items) {
    if (!('str' in item)) continue;
    const [, , , , x = 0, y = 0]: number[] = item.transform;
    if (last !== null && line === null && Math.abs(last.y - y) > GAP * last.height) {
      lines.push({ pieces: [], y: null, height: 0 });
    }
    if (line === null) {
      line = { pieces: [], y, height: item.height };
      lines.push(line);
    }
    line.pieces.push({ x, text: item.str });
    line.height = Math.max(line.height, item.height);
    if (item.hasEOL) line = null;
    if (item.height > 0) last = { y, height: item.height };
  }
  return lines;
};

const place = (lines: PdfLine[], { text, x, y, isApart }: PageNote): void => {
  const line = lines.find((each) => isBeside(each, y));
  if (line && !isApart) {
    const at = line.pieces.findIndex((piece) => piece.x > x && piece.text.trim() !== '');
    const isLast = at < 0;
    const piece = { x, text: isLast ? ` ${text}` : `${text} ` };
    line.pieces.splice(isLast ? line.pieces.length : at, 0, piece);
    return;
  }
  const below = lines.findIndex((each) => each.y !== null && each.y < y);
  const after = line ? lines.indexOf(line) + 1 : below < 0 ? lines.length : below;
  lines.splice(after, 0, { pieces: [{ x, text }], y: line?.y ?? y, height: 0 });
};

/** Minimum line height, for fields next to letters of unknown height. */
const MIN_HEIGHT = 8;

const isBeside = ({ y: ground, height }: PdfLine, y: number): boolean => {
  if (ground === null) return false;
  const tall = Math.max(height, MIN_HEIGHT);
  return y > ground - tall / 2 && y < ground + 1.2 * tall;
};

/** ISO 32000-1, 12.5. */
interface Annotation {
  subtype?: string;
  fieldType?: string | null;
  fieldValue?: unknown;
  options?: { exportValue: string; displayValue: string }[];
  checkBox?: boolean;
  radioButton?: boolean;
  exportValue?: string;
  buttonValue?: string;
  password?: boolean;
  annotationFlags?: number;
  rect?: number[];
  contentsObj?: { str?: string };
  textContent?: string[];
}

const HIDDEN = 2;
/** Annotations without text of their own: links, and pop-up windows of comments. */
const WITHOUT_TEXT = new Set(['Link', 'Popup']);

const toPageNotes = (annotation: Annotation): PageNote[] => {
  const { subtype = '', annotationFlags = 0, rect = [] } = annotation;
  if ((annotationFlags & HIDDEN) !== 0 || WITHOUT_TEXT.has(subtype)) return [];
  const isField = subtype === 'Widget';
  const text = isField ? fieldText(annotation) : formatComment(annotation);
  if (text.trim() === '') return [];
  const [left = 0, bottom = 0, right = 0, top = 0] = rect;
  const isApart = !isField;
  return [{ text, x: Math.min(left, right), y: (bottom + top) / 2, isApart }];
};

const fieldText = (annotation: Annotation): string => {
  const { fieldType, fieldValue, checkBox, radioButton, options = [] } = annotation;
  if (checkBox) return fieldValue === annotation.exportValue ? TICKED : UNTICKED;
  if (radioButton) return fieldValue === annotation.buttonValue ? TICKED : UNTICKED;
  if (annotation.password || (fieldType !== 'Tx' && fieldType !== 'Ch')) return '';
  const values: unknown[] = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
  const shown = values.flatMap((value) => {
    if (typeof value !== 'string') return [];
    return options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value;
  });
  return shown.join(', ');
};

const formatComment = ({ subtype, contentsObj, textContent = [] }: Annotation): string => {
  const text = (contentsObj?.str ?? '').trim() || textContent.join('\n').trim();
  if (text === '' || subtype === 'FreeText' || subtype === 'Stamp') return text;
  return `Comment: ${text}`;
};
