import { indentOf, markerText, type TextLine, textOfRuns } from './lines.js';

/** Writes lines as plain text, for where nothing is read as markup. */
export const writePlain = (lines: readonly TextLine[]): string => lines.map(plainLine).join('\n');

/** Returns a line as plain text, with its indentation, its marker and its depth in quotes. */
export const plainLine = (line: TextLine): string => linePrefix(line) + textOfRuns(line.runs);

/** Returns what stands before the text of a line where lists and quotes are shown as text. */
export const linePrefix = (line: TextLine): string =>
  '> '.repeat(line.quote) + indentOf(line) + markerText(line);
