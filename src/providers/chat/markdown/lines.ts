import { wholeCharacters } from './split.js';

/** The styles of a run of text. */
export interface RunStyle {
  isBold?: true;
  isItalic?: true;
  isStruck?: true;
  isCode?: true;
  /** The address that the run links to. The run shows exactly this address. */
  url?: string;
}

/** A piece of one line in one style. Its text is text: no character in it is markup. */
export interface TextRun extends RunStyle {
  text: string;
}

/** One line of a formatted message, as every platform can show it. An empty one has no runs. */
export interface TextLine {
  kind: 'text' | 'title' | 'heading' | 'code';
  /** The level of a heading, 1 to 6; 0 for other lines. */
  level: number;
  /** The depth of block quotes around the line. */
  quote: number;
  /** The depth of lists around the line. */
  depth: number;
  /** The marker, on the first line of a list item; null on all other lines. */
  marker: ItemMarker | null;
  /** Lines of one code block have the same number, and other lines have 0. */
  block: number;
  /** True for the first line of a code block. */
  isBlockStart: boolean;
  /** The language of a code block; empty if it has none. */
  language: string;
  runs: TextRun[];
}

export interface ItemMarker {
  /** The number of an item in an ordered list; null in a bullet list. */
  number: number | null;
  /** The state of an item in a task list; null if it is no task. */
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

/** Builds a line; what is not given is as in a line of plain text. */
export const lineOf = (runs: TextRun[], given: Partial<TextLine> = {}): TextLine => ({
  ...EMPTY_LINE,
  ...given,
  runs: joinedRuns(runs),
});

/** Joins adjacent runs of one style, and leaves out empty ones. An address stays apart. */
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

/** Returns the spaces before a text, the text, and the spaces behind it. */
export const edgesOf = (text: string): [before: string, text: string, after: string] => {
  const said = text.trim();
  const start = text.length - text.trimStart().length;
  return [text.slice(0, start), said, text.slice(start + said.length)];
};

export const textOfRuns = (runs: readonly TextRun[]): string =>
  runs.map(({ text }) => text).join('');

export const isBlank = ({ runs, marker }: TextLine): boolean =>
  marker === null && textOfRuns(runs).trim() === '';

/** True for a line of text in no style, and in no list or quote. */
export const isUnstyled = ({ kind, quote, depth, runs }: TextLine): boolean =>
  kind === 'text' &&
  quote + depth === 0 &&
  runs.every((run) => !(run.isBold || run.isItalic || run.isStruck || run.isCode || run.url));

/** True if the lines belong to one block of code. */
export const isSameBlock = (a: TextLine, b: TextLine): boolean =>
  a.block !== 0 && a.block === b.block;

/** Groups adjacent lines: a line joins a group if it belongs to the first line of the group. */
export const groupsOf = (
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

/** Returns the marker as text, with a space behind it: `• `, `3. `, `☐ `. */
export const markerText = ({ marker, depth }: TextLine): string => {
  if (!marker) return '';
  const sign = marker.number === null ? (depth > 1 ? '◦' : '•') : `${marker.number}.`;
  if (marker.isDone === null) return `${sign} `;
  const box = marker.isDone ? '☑' : '☐';
  return marker.number === null ? `${box} ` : `${sign} ${box} `;
};

/** Ours: lists and quotes that are deeper are shown at this depth. */
export const MAX_LEVEL = 6;

/**
 * Returns the spaces before a line: two for each list around its own, and those under the marker
 * for a further line of an item.
 */
export const indentOf = ({ depth, marker }: TextLine): string =>
  '  '.repeat(Math.max(0, depth - (marker ? 1 : 0)));

/** Characters that reverse the order of what follows, and so can disguise an address. */
const OVERRIDES = /[\u202d\u202e]/g;

/** Replaces lone surrogates, which no platform accepts, and removes overrides of the direction. */
export const legibleText = (text: string): string => wholeCharacters(text).replace(OVERRIDES, '');
