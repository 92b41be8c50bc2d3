import { withoutElements } from './alternatives.js';
import { type ArchiveFiles, fileIn } from './archive.js';
import { joinTexts } from './drawings.js';
import type { Extraction } from './job.js';
import { openDocument, STYLES, walkContent } from './opendocument.js';
import { createSheetText, hasResult, noteFormulas, type SheetText } from './sheettext.js';
import { findAttribute, walkXml, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/**
 * ODF 1.3. Each sheet is a page. Headers and footers are on the first one. Comments are left out.
 */
export const extractOds = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { pageChars } = extraction.job.limits;
  const files = await openDocument(bytes, extraction);
  let count = 0;
  await walkSheets(files, {
    begin: () => null,
    end: () => count++,
    isDone: () => false,
    formulas: { count: 0 },
  });
  const formulas = { count: 0 };
  const edges = await readEdges(files);
  extraction.total(count);
  let isDone = false;
  await walkSheets(files, {
    begin: (name) => {
      if (isDone || extraction.skip()) return null;
      return createSheetText({ name, isNamed: count > 1, mostChars: pageChars });
    },
    end: (sheet) => {
      if (sheet) isDone = !extraction.add(joinTexts([edges.header, sheet.text(), edges.footer]));
      // They are on each printed page.
      Object.assign(edges, { header: '', footer: '' });
    },
    isDone: () => isDone,
    formulas,
  });
  noteFormulas(extraction, formulas.count);
};

const FIELDS = /^(sheet-name|page-number|page-count|date|time|file-name)$/;

/** Printed headers and footers (ODF 1.3, part 3, 16.10 to 16.13), without paragraphs of page numbers. */
const readEdges = async (files: ArchiveFiles): Promise<{ header: string; footer: string }> => {
  const texts = { header: new Set<string>(), footer: new Set<string>() };
  let edge: Set<string> | null = null;
  let paragraph = '';
  let hasField = false;
  const visitor: XmlVisitor = {
    open: (name, attributes, parent) => {
      const isShown = findAttribute(attributes, 'display') !== 'false';
      const [, kind] = /^(header|footer)(-left|-first)?$/.exec(name) ?? [];
      if (parent === 'master-page' && (kind === 'header' || kind === 'footer')) {
        edge = isShown ? texts[kind] : null;
      } else if (name === 'p') {
        paragraph = '';
        hasField = false;
      } else if (FIELDS.test(name)) hasField = true;
      else if (SPACES.has(name)) paragraph += ' ';
    },
    text: (text) => {
      paragraph += text;
    },
    close: (name) => {
      if (name === 'p' && !hasField) edge?.add(paragraph.trim());
      else if (/^(header|footer)(-left|-first)?$/.test(name)) edge = null;
    },
  };
  const styles = await fileIn(files, STYLES)?.();
  if (styles) await walkXml(styles, visitor);
  const joined = (lines: Set<string>): string => [...lines].filter(Boolean).join('\n');
  return { header: joined(texts.header), footer: joined(texts.footer) };
};

interface SheetsVisitor {
  /** Returns null if the sheet is not needed. */
  begin(name: string): SheetText | null;
  end(sheet: SheetText | null): void;
  isDone(): boolean;
  formulas: { count: number };
}

const walkSheets = async (files: ArchiveFiles, visitor: SheetsVisitor): Promise<void> => {
  const { begin, end, isDone, formulas } = visitor;
  const parents: string[] = [];
  const rows = createRows(formulas);
  let sheet: SheetText | null = null;
  const content: XmlVisitor = {
    open: (name, attributes) => {
      // Tables elsewhere are cached copies of other files.
      const isSheet = name === 'table' && parents.at(-1) === 'spreadsheet';
      if (isSheet) {
        sheet = begin(findAttribute(attributes, 'name') ?? '');
        rows.set(sheet);
      }
      parents.push(name);
      rows.open(name, attributes);
    },
    text: rows.text,
    close: (name) => {
      parents.pop();
      rows.close(name);
      if (name !== 'table' || parents.at(-1) !== 'spreadsheet') return;
      rows.set(null);
      end(sheet);
    },
    isDone,
  };
  await walkContent(files, withoutElements(content, isLeftOut));
};

const isLeftOut = (name: string): boolean => name === 'annotation' || name === 'binary-data';

const CELLS = new Set(['table-cell', 'covered-table-cell']);
const PARAGRAPHS = new Set(['p', 'h']);
const SPACES = new Set(['line-break', 'tab', 's']);

const createRows = (formulas: { count: number }) => {
  let column = 0;
  let rowTimes = 1;
  let cell: { text: string; value: string; formula: string; times: number } | null = null;
  let paragraphs = 0;
  let sheet: SheetText | null = null;
  return {
    set: (next: SheetText | null): void => {
      sheet = next;
    },
    open: (name: string, attributes: XmlAttributes): void => {
      if (!sheet) return;
      if (name === 'table-row') {
        column = 0;
        rowTimes = parseRepeatCount(attributes, 'rows');
      } else if (CELLS.has(name)) {
        const times = parseRepeatCount(attributes, 'columns');
        cell = {
          text: '',
          value: plainValue(attributes),
          formula: parseFormula(attributes),
          times,
        };
      } else if (cell && PARAGRAPHS.has(name)) {
        paragraphs++;
        if (cell.text !== '') cell.text += ' ';
      } else if (cell && paragraphs > 0 && SPACES.has(name)) cell.text += ' ';
    },
    text: (piece: string): void => {
      if (cell && paragraphs > 0) cell.text += piece;
    },
    close: (name: string): void => {
      if (cell && PARAGRAPHS.has(name)) paragraphs--;
      else if (cell && CELLS.has(name)) {
        const result = cell.text || cell.value;
        const isLeft = result === '' && cell.formula !== '' && hasResult(cell.formula);
        if (isLeft && sheet) formulas.count += cell.times;
        sheet?.cell(column, isLeft ? cell.formula : result, cell.times);
        column += cell.times;
        cell = null;
      } else if (name === 'table-row') sheet?.endRow(rowTimes);
    },
  };
};

/** Number of repetitions of a row or cell. */
const parseRepeatCount = (attributes: XmlAttributes, what: 'rows' | 'columns'): number =>
  Math.max(
    1,
    Number.parseInt(findAttribute(attributes, `number-${what}-repeated`) ?? '1', 10) || 1,
  );

/** Converts `of:=[.A1]*4` to `=A1*4` (ODF 1.3, part 4). */
const parseFormula = (attributes: XmlAttributes): string =>
  (findAttribute(attributes, 'formula') ?? '')
    .replace(/^\w+:/, '')
    .replace(/\[\.?([^[\]]*)\]/g, (_, reference: string) => reference.replaceAll(':.', ':'));

const plainValue = (attributes: XmlAttributes): string => {
  const names = ['string-value', 'date-value', 'time-value', 'boolean-value', 'value'];
  return names.map((name) => findAttribute(attributes, name)).find(Boolean) ?? '';
};
