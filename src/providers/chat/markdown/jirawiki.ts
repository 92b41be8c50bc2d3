import { groupLines, isSameBlock, type TextLine, type TextRun, textOfRuns } from './lines.js';

/** U+200B. */
const HIDDEN = '\u200b';

const MARKS = [
  ['isBold', '*'],
  ['isItalic', '_'],
  ['isStruck', '-'],
] as const;

/**
 * Text formatting notation of Jira (Jira's "Text Formatting Notation Help"). Marks, macros, mentions
 * and links in the text are escaped.
 */
export const writeJira = (lines: readonly TextLine[]): string =>
  groupLines(lines, isSameBlock)
    .map((group) =>
      group[0]?.kind === 'code'
        ? `{noformat}\n${group.map(codeText).join('\n')}\n{noformat}`
        : group.map(lineText).join('\n'),
    )
    .join('\n');

/** Upper bound: each character may be escaped, and each style has a mark at both ends. */
export const jiraSize = ({ runs, depth }: TextLine): number =>
  LINE_ROOM + depth + runs.reduce((sum, { text }) => sum + 2 * text.length + RUN_ROOM, 0);

/** `{noformat}` twice, or the mark of a heading or of an item. */
const LINE_ROOM = 30;
const RUN_ROOM = 14;

/** A macro in code would end it. */
const codeText = ({ runs }: TextLine): string =>
  textOfRuns(runs).replace(/\{(?=noformat)/g, `{${HIDDEN}`);

const lineText = ({ kind, level, quote, depth, marker, runs }: TextLine): string => {
  const text = runs.map(runText).join('');
  if (kind === 'title') return `*${text}*`;
  if (kind === 'heading') return `h${level}. ${text}`;
  const box = marker?.isDone == null ? '' : marker.isDone ? '☑ ' : '☐ ';
  if (marker) return `${(marker.number === null ? '*' : '#').repeat(depth)} ${box}${text}`;
  return quote > 0 ? `bq. ${text}` : text.replace(/^(?=\s*(?:h[1-6]|bq)\.)/, HIDDEN);
};

const runText = (run: TextRun): string => {
  if (run.url !== undefined) return `[${run.url.replace(/[|\]]/g, encodeURIComponent)}]`;
  const escaped = run.text.replace(/[\\{}[\]*_+^~!|?@#-]/g, '\\$&');
  if (run.text.trim() === '') return escaped;
  if (run.isCode) return `{{${escaped}}}`;
  const marks = MARKS.filter(([style]) => run[style]).map(([, mark]) => mark);
  return marks.reduce((text, mark) => `{${mark}}${text}{${mark}}`, escaped);
};
