import { OPS, type PDFPageProxy, Util } from 'pdfjs-dist/legacy/build/pdf.mjs';

interface PageDrawing {
  /** Share of the page that images cover. May exceed 1, because images may overlap. */
  covered: number;
  isDrawn: boolean;
  /** Whether text is hidden, as in scans that were already recognized. */
  hasHiddenText: boolean;
}

type Matrix = number[];

const PICTURES = new Set<number>([
  OPS.paintImageXObject,
  OPS.paintInlineImageXObject,
  OPS.paintImageMaskXObject,
  OPS.paintSolidColorImageMask,
]);
/** Index of the transformation list in the arguments. */
const GROUPS = new Map<number, number>([
  [OPS.paintImageMaskXObjectGroup, 0],
  [OPS.paintInlineImageXObjectGroup, 1],
]);
/** Operators that show a path. Other paths only clip. */
const SHOWN = new Set<number>([
  ...[OPS.stroke, OPS.closeStroke, OPS.fill, OPS.eoFill, OPS.rawFillPath],
  ...[OPS.fillStroke, OPS.eoFillStroke, OPS.closeFillStroke, OPS.closeEOFillStroke],
]);
/** Text rendering modes that show nothing (ISO 32000-1, 9.3.6). */
const HIDDEN_MODES = new Set<unknown>([3, 7]);

export const readPageDrawing = async (page: PDFPageProxy): Promise<PageDrawing> => {
  const { fnArray, argsArray } = await page.getOperatorList();
  const [left = 0, bottom = 0, right = 0, top = 0] = page.view;
  const area = Math.max(1, Math.abs((right - left) * (top - bottom)));
  const drawing: PageDrawing = { covered: 0, isDrawn: false, hasHiddenText: false };
  const matrices = createMatrices();
  for (const [at, operator] of fnArray.entries()) {
    const args: unknown[] = Array.from(Object(argsArray[at] ?? []));
    matrices.take(operator, args);
    const shares = listPictures(operator, args).map((each) => matrices.areaOf(each) / area);
    for (const share of shares) drawing.covered += Math.min(1, share);
    if (operator === OPS.shadingFill || SHOWN.has(shownBy(operator, args))) drawing.isDrawn = true;
    if (operator === OPS.setTextRenderingMode && HIDDEN_MODES.has(args[0]))
      drawing.hasHiddenText = true;
  }
  return drawing;
};

const shownBy = (operator: number, [first]: unknown[]): number =>
  operator === OPS.constructPath && typeof first === 'number' ? first : operator;

const createMatrices = () => {
  const outer: Matrix[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  const apply = (other: unknown): void => {
    const numbers = numbersIn(other);
    if (numbers.length === 6) matrix = Util.transform(matrix, numbers);
  };
  return {
    take: (operator: number, args: unknown[]): void => {
      if (operator === OPS.transform) apply(args);
      else if (operator === OPS.save) outer.push(matrix);
      else if (operator === OPS.paintFormXObjectBegin || operator === OPS.beginAnnotation) {
        outer.push(matrix);
        for (const each of args) apply(each);
      } else if (ENDS.has(operator)) matrix = outer.pop() ?? matrix;
    },
    areaOf: (picture: Matrix): number => {
      const [a = 0, b = 0, c = 0, d = 0] = Util.transform(matrix, picture);
      return Math.abs(a * d - b * c);
    },
  };
};

const ENDS = new Set<number>([OPS.restore, OPS.paintFormXObjectEnd, OPS.endAnnotation]);

const UNIT: Matrix = [1, 0, 0, 1, 0, 0];

const listPictures = (operator: number, args: unknown[]): Matrix[] => {
  if (PICTURES.has(operator)) return [UNIT];
  const group = GROUPS.get(operator);
  if (group !== undefined) {
    const each: { transform?: unknown }[] = Array.from(Object(args[group] ?? []));
    return each.map(({ transform }) => numbersIn(transform)).filter(({ length }) => length === 6);
  }
  // The same image at several places.
  if (operator === OPS.paintImageXObjectRepeat) {
    const [, x, y, places] = args;
    return repeated([Number(x), 0, 0, Number(y), 0, 0], places);
  }
  if (operator !== OPS.paintImageMaskXObjectRepeat) return [];
  const [, a, b, c, d, places] = args;
  return repeated([...[a, b, c, d].map(Number), 0, 0], places);
};

const repeated = (matrix: Matrix, places: unknown): Matrix[] =>
  Array.from({ length: numbersIn(places).length / 2 }, () => matrix);

const numbersIn = (value: unknown): number[] =>
  typeof value === 'object' && value !== null
    ? Array.from(Object.values(value)).filter((each) => typeof each === 'number')
    : [];
