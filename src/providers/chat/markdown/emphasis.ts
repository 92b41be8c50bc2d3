import { type RunStyle, splitOuterSpace, type TextRun } from './lines.js';

export interface EmphasisRules {
  escape(text: string): string;
  link(url: string): string;
}

type Mark = '**' | '*' | '~~';

const MARKS: [keyof RunStyle, Mark][] = [
  ['isBold', '**'],
  ['isItalic', '*'],
  ['isStruck', '~~'],
];

/** U+200B, zero width space. */
const HIDDEN = '\u200b';

/** Spaces stay outside the marks. A hidden character separates marks that would merge. */
export const emphasized = (runs: readonly TextRun[], rules: EmphasisRules): string => {
  const open: Mark[] = [];
  const pieces: string[] = [];
  const close = (count: number): void => {
    const closed = open
      .splice(open.length - count)
      .reverse()
      .join('');
    const spaces = closed !== '' && pieces.at(-1)?.trim() === '' ? (pieces.pop() ?? '') : '';
    pieces.push(closed, spaces);
  };
  for (const run of runs.flatMap(spacesApart)) {
    const marks = run.text.trim() === '' ? marksOfSpace(open, run) : listMarks(run);
    const same = commonStart(open, marks);
    close(open.length - same);
    const opened = marks.slice(same).join('');
    open.push(...marks.slice(same));
    const isBeside = opened !== '' && /[*~]/.test(getLastCharacter(pieces));
    pieces.push(isBeside ? HIDDEN + opened : opened, textOfRun(run, rules));
  }
  close(open.length);
  return pieces.join('');
};

const getLastCharacter = (pieces: string[]): string =>
  pieces.findLast((piece) => piece !== '')?.at(-1) ?? '';

/** Upper bound of the length that `emphasized` writes. */
export const emphasizedSize = (runs: readonly TextRun[], rules: EmphasisRules): number =>
  runs.reduce(
    (sum, run) => sum + textOfRun(run, rules).length + MARKS_ROOM * listMarks(run).length,
    0,
  );

/** Each mark is opened and closed, with a hidden character before it. */
const MARKS_ROOM = 5;

const spacesApart = (run: TextRun): TextRun[] => {
  if (run.isCode || run.url !== undefined || listMarks(run).length === 0) return [run];
  const [before, text, after] = splitOuterSpace(run.text);
  return [{ text: before }, { ...run, text }, { text: after }].filter((each) => each.text !== '');
};

const listMarks = (run: TextRun): Mark[] =>
  MARKS.filter(([style]) => run[style]).map(([, mark]) => mark);

/** A space between two words of one style belongs to the style. */
const marksOfSpace = (open: Mark[], run: TextRun): Mark[] =>
  run.isCode ? listMarks(run) : [...open];

const commonStart = (open: Mark[], marks: Mark[]): number => {
  let same = 0;
  while (same < open.length && open[same] === marks[same]) same++;
  return same;
};

const textOfRun = (run: TextRun, rules: EmphasisRules): string => {
  if (run.url !== undefined) return rules.link(run.url);
  return run.isCode ? codeSpan(run.text) : rules.escape(run.text);
};

/**
 * Cannot be ended from inside. Adjacent backquotes are separated: three start a code block on
 * Discord anywhere.
 */
const codeSpan = (text: string): string => {
  if (!text.includes('`')) return `\`${text}\``;
  return `\`\` ${text.replace(/`(?=`)/g, `\`${HIDDEN}`)} \`\``;
};
