import type { TextLine, TextRun } from './lines.js';
import { linePrefix } from './plain.js';

/** A block of an Adaptive Card with one line of text. */
export type TeamsBlock = Readonly<Record<string, unknown>>;

/**
 * Returns the block of a line. A TextRun knows no Markdown and no HTML, and without a list of
 * mentions `<at>` mentions nobody. An address is a link by an action, which Teams fetches only when
 * somebody presses it. Spaces are hard where the width of each counts.
 */
export const teamsBlock = (line: TextLine): TeamsBlock => {
  const before = linePrefix(line);
  const runs: TextRun[] = [{ text: hardSpaces(before) }, ...line.runs];
  const shown = runs.filter(({ text }) => text !== '');
  return {
    type: 'RichTextBlock',
    spacing: 'None',
    inlines: (shown.length > 0 ? shown : [{ text: ' ' }]).map((run) => inlineOf(line, run)),
  };
};

const hardSpaces = (text: string): string => text.replace(/ (?= )|^ /g, '\u00a0');

const inlineOf = ({ kind, level }: TextLine, run: TextRun) => {
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

/** Returns the size of a line in a card as Teams counts it: two bytes for each UTF-16 unit. */
export const teamsSize = (line: TextLine): number => {
  const block = JSON.stringify(teamsBlock({ ...line, runs: [] })).length + 1;
  const inlines = line.runs.map((run) => JSON.stringify(inlineOf(line, run)).length + 1);
  return 2 * inlines.reduce((sum, length) => sum + length, block);
};
