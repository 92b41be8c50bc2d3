import type { TextLine, TextRun } from './lines.js';
import { linePrefix } from './plain.js';

export type TeamsBlock = Readonly<Record<string, unknown>>;

/**
 * A TextRun has no Markdown or HTML, and `<at>` mentions nobody without a mention list. Links are
 * actions, fetched only when pressed. Spaces are hard where width matters.
 */
export const teamsBlock = (line: TextLine): TeamsBlock => {
  const before = linePrefix(line);
  const runs: TextRun[] = [{ text: hardSpaces(before) }, ...line.runs];
  const shown = runs.filter(({ text }) => text !== '');
  return {
    type: 'RichTextBlock',
    spacing: 'None',
    inlines: (shown.length > 0 ? shown : [{ text: ' ' }]).map((run) => renderTextRun(line, run)),
  };
};

const hardSpaces = (text: string): string => text.replace(/ (?= )|^ /g, '\u00a0');

const renderTextRun = ({ kind, level }: TextLine, run: TextRun) => {
  const isCode = kind === 'code' || run.isCode;
  const isStrong = kind === 'title' || kind === 'heading' || run.isBold;
  return {
    type: 'TextRun',
    text: kind === 'code' ? hardSpaces(run.text) : run.text,
    ...(isStrong && { weight: 'Bolder' }),
    ...(kind === 'heading' && level < 3 && { size: 'Medium' }),
    ...(run.isItalic && { italic: true }),
    ...(run.isStruck && { strikethrough: true }),
    ...(isCode && { fontType: 'Monospace' }),
    ...(run.url?.startsWith('http') && {
      color: 'Accent',
      selectAction: { type: 'Action.OpenUrl', url: run.url },
    }),
  };
};

/** Teams counts two bytes per UTF-16 unit. */
export const teamsSize = (line: TextLine): number => {
  const block = JSON.stringify(teamsBlock({ ...line, runs: [] })).length + 1;
  const inlines = line.runs.map((run) => JSON.stringify(renderTextRun(line, run)).length + 1);
  return 2 * inlines.reduce((sum, length) => sum + length, block);
};
