import { formatListIndent, markerText, type TextLine, textOfRuns } from './lines.js';

export const writePlain = (lines: readonly TextLine[]): string => lines.map(plainLine).join('\n');

export const plainLine = (line: TextLine): string => linePrefix(line) + textOfRuns(line.runs);

export const linePrefix = (line: TextLine): string =>
  '> '.repeat(line.quote) + formatListIndent(line) + markerText(line);
