import { type EmphasisRules, emphasized, emphasizedSize } from './emphasis.js';
import type { MessageLimits } from './fit.js';
import { formatListIndent, groupLines, isSameBlock, type TextLine, textOfRuns } from './lines.js';

export interface MarkdownRules extends EmphasisRules {
  /** Prevents a list, heading or quote. */
  escapeStart(escaped: string): string;
  /** Deeper headings use this level. */
  deepestHeading: number;
  /** Longer runs of backquotes in code are broken. */
  longestFence: number;
}

/** U+200B keeps backquotes in code from ending it. */
const HIDDEN = '\u200b';

export const writeMarkdown = (lines: readonly TextLine[], rules: MarkdownRules): string => {
  let written = '';
  let before: TextLine | undefined;
  for (const group of groupLines(lines, isSameBlock)) {
    const [first] = group;
    if (!first) continue;
    // Without a blank line, text after a quote would belong to it.
    const isApart = before && before.quote > first.quote && first.runs.length > 0;
    if (before) written += isApart ? '\n\n' : '\n';
    written +=
      first.kind === 'code' ? renderCodeBlock(group, first, rules) : lineText(first, rules);
    before = first;
  }
  return written;
};

/** Characters of the two fences, with the language. */
const FENCES = 60;

const markdownSize = (line: TextLine, rules: MarkdownRules): number => {
  const { kind, runs, isBlockStart } = line;
  const prefix = formatQuotePrefix(line).length;
  if (kind !== 'code') {
    const room = kind === 'text' && line.marker === null ? PLAIN_ROOM : LINE_ROOM;
    return prefix + room + 2 * line.depth + emphasizedSize(runs, rules);
  }
  const text = textOfRuns(runs);
  const broken = text.match(/`(?=``)/g)?.length ?? 0;
  return prefix + text.length + broken + 1 + (isBlockStart ? FENCES + 2 * prefix : 0);
};

/** Characters around the text: heading or item marks, escapes, line end. */
const LINE_ROOM = 20;
/** For a plain line: one escape, its end, and a blank line after a quote. */
const PLAIN_ROOM = 3;

/** Room for fences of code continued from the previous message. */
const FENCE_ROOM = FENCES + 30;

export const markdownLimits = (rules: MarkdownRules, most: number): MessageLimits => ({
  most: most - FENCE_ROOM,
  sizeOf: (line) => markdownSize(line, rules),
});

const formatQuotePrefix = ({ quote }: TextLine): string => '> '.repeat(quote);

const renderCodeBlock = (
  lines: TextLine[],
  first: TextLine,
  { longestFence }: MarkdownRules,
): string => {
  const texts = lines.map(({ runs }) => textOfRuns(runs));
  const longest = texts.reduce((most, text) => Math.max(most, longestTicks(text)), 2);
  const fence = '`'.repeat(Math.min(longest + 1, longestFence));
  const isBroken = longest >= fence.length;
  const shown = isBroken ? texts.map((text) => text.replace(/`(?=``)/g, `\`${HIDDEN}`)) : texts;
  const before = formatQuotePrefix(first);
  return [`${fence}${first.language}`, ...shown, fence].map((line) => before + line).join('\n');
};

const longestTicks = (text: string): number =>
  (text.match(/`{3,}/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);

const lineText = (line: TextLine, rules: MarkdownRules): string => {
  const { kind, level, runs, marker } = line;
  const before = formatQuotePrefix(line) + formatListIndent(line);
  if (kind === 'title') return `**${rules.escape(textOfRuns(runs))}**`;
  const text = rules.escapeStart(emphasized(runs, rules));
  if (kind === 'heading') {
    return `${before}${'#'.repeat(Math.min(level, rules.deepestHeading))} ${text}`;
  }
  if (!marker) return runs.length === 0 ? before.trimEnd() : before + text;
  const box = marker.isDone === null ? '' : marker.isDone ? '☑ ' : '☐ ';
  return `${before}${marker.number === null ? '-' : `${marker.number}.`} ${box}${text}`;
};
