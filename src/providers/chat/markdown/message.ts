import { plainRuns } from './inline.js';
import { markdownLines } from './layout.js';
import { createTextLine, legibleText, type TextLine } from './lines.js';

interface WrittenMessage {
  title: string | null;
  text: string;
  isMarkdown?: boolean;
  question?: object;
}

/**
 * Title, then text. A question is plain text, since every character counts. `hasGap` adds a blank
 * line below the title. Outer blank lines are removed.
 */
export const messageLines = (message: WrittenMessage, hasGap = false): TextLine[] => {
  const { title, text, isMarkdown, question } = message;
  const body = withoutEdges(
    isMarkdown && !question ? markdownLines(legible(text)) : plainLines(text),
  );
  const content = legible(title ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  if (content === '') return body;
  const head = [createTextLine([{ text: content }], { kind: 'title' })];
  return [...head, ...(hasGap && body.length > 0 ? [createTextLine([])] : []), ...body];
};

const legible = (text: string): string => legibleText(text).replace(/\r\n?/g, '\n');

const plainLines = (text: string): TextLine[] =>
  legible(text)
    .split('\n')
    .map((line) => createTextLine(plainRuns(line)));

const withoutEdges = (lines: TextLine[]): TextLine[] => {
  const isEmpty = ({ kind, runs, marker }: TextLine): boolean =>
    kind !== 'code' && marker === null && runs.every(({ text }) => text.trim() === '');
  const start = lines.findIndex((line) => !isEmpty(line));
  const end = lines.findLastIndex((line) => !isEmpty(line));
  return start < 0 ? [] : lines.slice(start, end + 1);
};
