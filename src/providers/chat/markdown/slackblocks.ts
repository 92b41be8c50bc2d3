import {
  formatListIndent,
  groupLines,
  isBlank,
  isSameBlock,
  joinedRuns,
  type TextLine,
  type TextRun,
  textOfRuns,
} from './lines.js';

/** Slack `rich_text` element. Its text has no mentions, links or emoji. */
export type SlackElement = Readonly<Record<string, unknown>>;

/** Slack adds the space between lists, code and text. */
export const slackElements = (lines: readonly TextLine[]): SlackElement[] =>
  groupLines(lines, isTogether).flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const border = first.quote > 0 ? { border: 1 } : {};
    if (first.kind === 'code') {
      const code = group.map(({ runs }) => textOfRuns(runs)).join('\n');
      if (code === '') return [];
      const elements = [{ type: 'text', text: code }];
      return [{ type: 'rich_text_preformatted', elements, ...border }];
    }
    if (first.marker) return [renderListElement(group, first, border)];
    const elements = lineElements(withoutGaps(group));
    const type = first.quote > 0 ? 'rich_text_quote' : 'rich_text_section';
    return elements.length > 0 ? [{ type, elements }] : [];
  });

const isTogether = (first: TextLine, line: TextLine): boolean => {
  if (first.kind === 'code' || line.kind === 'code') return isSameBlock(first, line);
  if (first.kind === 'title' || first.quote > 0 !== line.quote > 0) return false;
  const { marker } = first;
  if (!marker) return line.marker === null;
  if (first.depth !== line.depth) return false;
  return line.marker === null || (line.marker.number === null) === (marker.number === null);
};

const withoutGaps = (lines: TextLine[]): TextLine[] => {
  const start = lines.findIndex((line) => !isBlank(line));
  const end = lines.findLastIndex((line) => !isBlank(line));
  return start < 0 ? [] : lines.slice(start, end + 1);
};

const renderListElement = (
  lines: TextLine[],
  { marker, depth }: TextLine,
  border: object,
): SlackElement => {
  const number = marker?.number ?? null;
  const items = groupLines(lines, (_, line) => line.marker === null);
  return {
    type: 'rich_text_list',
    style: number === null ? 'bullet' : 'ordered',
    indent: Math.max(0, depth - 1),
    ...(number !== null && number > 1 && { offset: number - 1 }),
    ...border,
    elements: items.map((item) => ({ type: 'rich_text_section', elements: itemElements(item) })),
  };
};

/** Slack rejects an empty section. */
const itemElements = (item: TextLine[]): SlackElement[] => {
  const isDone = item[0]?.marker?.isDone ?? null;
  const box = isDone === null ? '' : isDone ? '☑ ' : '☐ ';
  const [first, ...others] = item.map((line) => ({ ...line, depth: 0, quote: 0 }));
  const marked = first ? [{ ...first, runs: [{ text: box }, ...first.runs] }, ...others] : [];
  const elements = lineElements(marked);
  return elements.length > 0 ? elements : [{ type: 'text', text: ' ' }];
};

const lineElements = (lines: TextLine[]): SlackElement[] => {
  const runs: TextRun[] = [];
  for (const [at, line] of lines.entries()) {
    if (at > 0) runs.push({ text: '\n' });
    const before = '> '.repeat(Math.max(0, line.quote - 1)) + formatListIndent(line);
    const isStrong = line.kind === 'title' || line.kind === 'heading';
    const shown = line.runs.map((run) => (isStrong ? { ...run, isBold: true as const } : run));
    runs.push({ text: before }, ...shown);
  }
  return joinedRuns(runs).map(renderTextElement);
};

const renderTextElement = ({
  text,
  url,
  isBold,
  isItalic,
  isStruck,
  isCode,
}: TextRun): SlackElement => {
  const style = {
    ...(isBold && { bold: true }),
    ...(isItalic && { italic: true }),
    ...(isStruck && { strike: true }),
    ...(isCode && { code: true }),
  };
  const styled = Object.keys(style).length > 0 ? { style } : {};
  return url === undefined
    ? { type: 'text', text, ...styled }
    : { type: 'link', url, text, ...styled };
};
