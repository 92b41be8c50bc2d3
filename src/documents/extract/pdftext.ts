import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { TICKED, UNTICKED } from './symbols.js';

/** Pieces of text that stand beside each other. Units are those of the page, 1/72 inch. */
interface PdfLine {
  pieces: { x: number; text: string }[];
  /** The place of its ground line; null for a gap between lines. */
  y: number | null;
  height: number;
}

/** A value or a remark that a person has put onto a page, with its place. */
interface PageNote {
  text: string;
  x: number;
  y: number;
  /** True for what stands on a line of its own, as a comment. */
  isApart: boolean;
}

/**
 * Returns the text in the order of the file, with its lines; a gap between lines is a blank line. The
 * values of fields, and what was written onto the page, stand at their places.
 */
export const pageText = async (page: PDFPageProxy): Promise<string> => {
  const lines = await linesOf(page);
  const notes = (await page.getAnnotations()).flatMap(noteOf);
  notes.sort((one, other) => other.y - one.y || one.x - other.x);
  for (const note of notes) place(lines, note);
  return lines.map(({ pieces }) => pieces.map(({ text }) => text).join('')).join('\n');
};

/** Ours: the distance between ground lines, in heights, from which on there is a gap. */
const GAP = 1.8;

const linesOf = async (page: PDFPageProxy): Promise<PdfLine[]> => {
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

/** Puts a note into the line at its place, or between the lines above and below it. */
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

/** Ours: the least height of a line, for fields beside letters whose height is not known. */
const MIN_HEIGHT = 8;

const isBeside = ({ y: ground, height }: PdfLine, y: number): boolean => {
  if (ground === null) return false;
  const tall = Math.max(height, MIN_HEIGHT);
  return y > ground - tall / 2 && y < ground + 1.2 * tall;
};

/** The facts of an annotation that are used (ISO 32000-1, 12.5). */
interface Annotation {
  subtype?: string;
  fieldType?: string | null;
  fieldValue?: unknown;
  /** The values that may be chosen in a choice, as they are shown. */
  options?: { exportValue: string; displayValue: string }[];
  checkBox?: boolean;
  radioButton?: boolean;
  /** The value of a box or a button that is on. */
  exportValue?: string;
  buttonValue?: string;
  password?: boolean;
  annotationFlags?: number;
  rect?: number[];
  contentsObj?: { str?: string };
  textContent?: string[];
}

const HIDDEN = 2;
/** Annotations that hold nothing of their own: a link, and the window of another one's comment. */
const WITHOUT_TEXT = new Set(['Link', 'Popup']);

const noteOf = (annotation: Annotation): PageNote[] => {
  const { subtype = '', annotationFlags = 0, rect = [] } = annotation;
  if ((annotationFlags & HIDDEN) !== 0 || WITHOUT_TEXT.has(subtype)) return [];
  const isField = subtype === 'Widget';
  const text = isField ? fieldText(annotation) : commentOf(annotation);
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

const commentOf = ({ subtype, contentsObj, textContent = [] }: Annotation): string => {
  const text = (contentsObj?.str ?? '').trim() || textContent.join('\n').trim();
  if (text === '' || subtype === 'FreeText' || subtype === 'Stamp') return text;
  return `Comment: ${text}`;
};
