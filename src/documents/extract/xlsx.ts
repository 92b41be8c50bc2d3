import { type ArchiveFiles, createFirstUse } from './archive.js';
import {
  builtInForm,
  type CellForm,
  formatCellDate,
  formatCellDuration,
  formOfCode,
} from './celldates.js';
import { drawnText, joinTexts } from './drawings.js';
import type { Extraction } from './job.js';
import { findPart, openPackage, type Relation, walkFile } from './openpackage.js';
import { createSheetEdges } from './sheetedges.js';
import { createSheetText, hasResult, noteFormulas, type SheetText } from './sheettext.js';
import { findAttribute, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * ECMA-376-1, SpreadsheetML. Each sheet is a page. A header or footer is on the page of the first
 * sheet that has it.
 */
export const extractXlsx = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { pageChars } = extraction.job.limits;
  const { files, main, relations } = await openPackage(bytes, extraction);
  const strings = findPart(relations, 'sharedStrings');
  const shared = strings === null ? [] : await sharedStrings(files, strings);
  const styles = findPart(relations, 'styles');
  const { sheets, calendar } = await readSheets(files, main, relations);
  const dates = { styles: styles === null ? NO_STYLES : await dateStyles(files, styles), calendar };
  const formulas = { count: 0 };
  const parts = { files, extraction, isFirst: createFirstUse(files) };
  const edges = createSheetEdges();
  extraction.total(sheets.length);
  for (const { name, path } of sheets) {
    if (extraction.skip()) continue;
    const isNamed = sheets.length > 1;
    const sheet = createSheetText({ name, isNamed, mostChars: pageChars });
    await walkFile(files, path, edges.within(sheetVisitor(sheet, { shared, dates, formulas })));
    const drawn = await drawnText(parts, path);
    const texts = [edges.take('header'), sheet.text(), edges.take('footer'), drawn];
    if (!extraction.add(joinTexts(texts))) break;
  }
  noteFormulas(extraction, formulas.count);
};

interface Sheet {
  name: string;
  path: string;
}

/** First year of the date system. */
type Calendar = 1900 | 1904;

/** Sheets with only a chart are left out. */
const readSheets = async (
  files: ArchiveFiles,
  path: string,
  relations: ReadonlyMap<string, Relation>,
): Promise<{ sheets: Sheet[]; calendar: Calendar }> => {
  const sheets: Sheet[] = [];
  const isFirst = createFirstUse(files);
  let calendar: Calendar = 1900;
  const open = (element: string, attributes: XmlAttributes): void => {
    if (element === 'workbookPr' && isTrue(attributes.date1904)) calendar = 1904;
    const relation = relations.get(findAttribute(attributes, 'id') ?? '');
    if (element !== 'sheet' || relation?.type !== 'worksheet') return;
    if (!isFirst(relation.path)) return;
    sheets.push({ name: attributes.name ?? '', path: relation.path });
  };
  await walkFile(files, path, { open });
  return { sheets, calendar };
};

const isTrue = (value = ''): boolean => value === '1' || value === 'true';

const NO_STYLES: ReadonlyMap<number, CellForm> = new Map();

/** Returns the indexes of cell styles that show a date or duration. */
const dateStyles = async (
  files: ArchiveFiles,
  path: string,
): Promise<ReadonlyMap<number, CellForm>> => {
  const codes = new Map<string, string>();
  const styles = new Map<number, CellForm>();
  let isOfCells = false;
  let place = 0;
  const open = (name: string, { numFmtId = '', formatCode }: XmlAttributes): void => {
    if (name === 'numFmt') codes.set(numFmtId, formatCode ?? '');
    else if (name === 'cellXfs') isOfCells = true;
    else if (name === 'xf' && isOfCells) {
      const code = codes.get(numFmtId);
      const form = code === undefined ? builtInForm(Number(numFmtId)) : formOfCode(code);
      if (form) styles.set(place, form);
      place++;
    }
  };
  const close = (name: string): void => {
    if (name === 'cellXfs') isOfCells = false;
  };
  await walkFile(files, path, { open, close });
  return styles;
};

const sharedStrings = async (files: ArchiveFiles, path: string): Promise<string[]> => {
  const strings: string[] = [];
  const runs = createRuns();
  await walkFile(files, path, {
    open: runs.open,
    text: runs.text,
    close: (name) => {
      runs.close(name);
      if (name === 'si') strings.push(runs.take());
    },
  });
  return strings;
};

const createRuns = () => {
  let text = '';
  let isText = false;
  let isHint = false;
  return {
    open: (name: string): void => {
      if (name === 't') isText = !isHint;
      else if (name === 'rPh') isHint = true;
    },
    text: (piece: string): void => {
      if (isText) text += piece;
    },
    close: (name: string): void => {
      if (name === 't') isText = false;
      else if (name === 'rPh') isHint = false;
    },
    take: (): string => {
      const taken = unescaped(text);
      text = '';
      return taken;
    },
  };
};

/** Characters that XML cannot contain (ECMA-376-1, ST_Xstring). */
const unescaped = (text: string): string =>
  text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

interface CellValues {
  shared: string[];
  dates: { styles: ReadonlyMap<number, CellForm>; calendar: Calendar };
  formulas: { count: number };
}

/** Only date formats are applied to numbers. */
const sheetVisitor = (sheet: SheetText, values: CellValues): XmlVisitor => {
  const runs = createRuns();
  let type = '';
  let style = 0;
  let column = -1;
  let value = '';
  let formula: string | null = null;
  let part: 'v' | 'f' | null = null;
  return {
    open: (name, attributes) => {
      if (name === 'row') column = -1;
      else if (name === 'c') {
        column = parseColumnIndex(attributes.r) ?? column + 1;
        type = attributes.t ?? 'n';
        style = Number(attributes.s ?? 0);
        value = '';
        formula = null;
      } else if (name === 'v') part = 'v';
      else if (name === 'f') {
        part = 'f';
        formula = '';
      } else runs.open(name);
    },
    text: (piece) => {
      if (part === 'v') value += piece;
      else if (part === 'f') formula = `${formula ?? ''}${piece}`;
      else runs.text(piece);
    },
    close: (name) => {
      runs.close(name);
      if (name === 'v' || name === 'f') part = null;
      else if (name === 'row') sheet.endRow();
      else if (name === 'c') {
        const inline = runs.take();
        const isLeft = formula !== null && value === '' && hasResult(formula);
        if (isLeft) values.formulas.count++;
        const result =
          type === 'inlineStr' ? inline : formatCellValue({ type, style, value }, values);
        sheet.cell(column, isLeft && formula ? `=${formula}` : result);
      }
    },
    isDone: sheet.isFull,
  };
};

const formatCellValue = (
  { type, style, value }: { type: string; style: number; value: string },
  { shared, dates }: CellValues,
): string => {
  const form = type === 'n' ? dates.styles.get(style) : undefined;
  if (form === 'date') return formatCellDate(value, dates.calendar) ?? value;
  if (form === 'duration') return formatCellDuration(value) ?? value;
  if (type === 's') return shared[Number.parseInt(value, 10)] ?? '';
  if (type === 'b' && value !== '') return value.trim() === '1' ? 'TRUE' : 'FALSE';
  if (type === 'str') return unescaped(value);
  return type === 'n' ? roundNumber(value) : value;
};

/** Fractions are stored with up to 17 digits, of which programs show 15. */
const roundNumber = (value: string): string => {
  const isLong = /e/i.test(value) || (value.includes('.') && value.length > 15);
  const number = isLong ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? String(Number(number.toPrecision(15))) : value;
};

/** Converts `AB12` to a column, from 0. */
const parseColumnIndex = (reference = ''): number | null => {
  const letters = /^[A-Z]+/.exec(reference)?.[0];
  if (letters === undefined) return null;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
};
