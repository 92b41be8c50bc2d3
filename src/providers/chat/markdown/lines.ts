import { wholeCharacters } from './split.js';

export interface RunStyle {
  isBold?: true;
  isItalic?: true;
  isStruck?: true;
  isCode?: true;
  /** The run shows exactly this URL. */
  url?: string;
}

/** No character in the text is markup. */
export interface TextRun extends RunStyle {
  text: string;
}

/** A platform-independent line. An empty one has no runs. */
export interface TextLine {
  kind: 'text' | 'title' | 'heading' | 'code';
  /** Heading level 1 to 6; 0 otherwise. */
  level: number;
  /** Depth of block quotes. */
  quote: number;
  /** Depth of lists. */
  depth: number;
  /** Only on the first line of a list item. */
  marker: ItemMarker | null;
  /** Equal for lines of one code block; 0 otherwise. */
  block: number;
  isBlockStart: boolean;
  /** Empty if none. */
  language: string;
  runs: TextRun[];
}

export interface ItemMarker {
  /** null in a bullet list. */
  number: number | null;
  /** null if it is no task. */
  isDone: boolean | null;
}

const EMPTY_LINE: TextLine = {
  kind: 'text',
  level: 0,
  quote: 0,
  depth: 0,
  marker: null,
  block: 0,
  isBlockStart: false,
  language: '',
  runs: [],
};

export const createTextLine = (runs: TextRun[], input: Partial<TextLine> = {}): TextLine => ({
  ...EMPTY_LINE,
  ...input,
  runs: joinedRuns(runs),
});

/** Drops empty runs. URLs stay separate. */
export const joinedRuns = (runs: readonly TextRun[]): TextRun[] => {
  const joined: TextRun[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (last && isSameStyle(last, run))
      joined[joined.length - 1] = { ...last, text: last.text + run.text };
    else if (run.text !== '') joined.push(run);
  }
  return joined;
};

const isSameStyle = (a: TextRun, b: TextRun): boolean =>
  a.isBold === b.isBold &&
  a.isItalic === b.isItalic &&
  a.isStruck === b.isStruck &&
  a.isCode === b.isCode &&
  a.url === undefined &&
  b.url === undefined;

export const splitOuterSpace = (text: string): [before: string, text: string, after: string] => {
  const content = text.trim();
  const start = text.length - text.trimStart().length;
  return [text.slice(0, start), content, text.slice(start + content.length)];
};

export const textOfRuns = (runs: readonly TextRun[]): string =>
  runs.map(({ text }) => text).join('');

export const isBlank = ({ runs, marker }: TextLine): boolean =>
  marker === null && textOfRuns(runs).trim() === '';

export const isUnstyled = ({ kind, quote, depth, runs }: TextLine): boolean =>
  kind === 'text' &&
  quote + depth === 0 &&
  runs.every((run) => !(run.isBold || run.isItalic || run.isStruck || run.isCode || run.url));

export const isSameBlock = (a: TextLine, b: TextLine): boolean =>
  a.block !== 0 && a.block === b.block;

export const groupLines = (
  lines: readonly TextLine[],
  belongs: (first: TextLine, line: TextLine) => boolean,
): TextLine[][] => {
  const groups: TextLine[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (group && first && belongs(first, line)) group.push(line);
    else groups.push([line]);
  }
  return groups;
};

/** `• `, `3. `, `☐ `. */
export const markerText = ({ marker, depth }: TextLine): string => {
  if (!marker) return '';
  const sign = marker.number === null ? (depth > 1 ? '◦' : '•') : `${marker.number}.`;
  if (marker.isDone === null) return `${sign} `;
  const box = marker.isDone ? '☑' : '☐';
  return marker.number === null ? `${box} ` : `${sign} ${box} `;
};

/** Deeper lists and quotes are shown at this depth. */
export const MAX_LEVEL = 6;

/** Two spaces per outer list, and the width of the marker on further lines. */
export const formatListIndent = ({ depth, marker }: TextLine): string =>
  '  '.repeat(Math.max(0, depth - (marker ? 1 : 0)));

/** These characters reverse text and can disguise a URL. */
const OVERRIDES = /[\u202d\u202e]/g;

/** Replaces lone surrogates and removes direction overrides. */
export const legibleText = (text: string): string => wholeCharacters(text).replace(OVERRIDES, '');
