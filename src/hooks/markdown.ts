import { type MarkdownToken, markdownParser } from '../providers/chat/markdown/parse.js';

/** CommonMark readers link URLs without escaping. */
const ADDRESS = /(https?:\/\/[^\s<>"'`]+)/;
const MARKS = /[\\`*_[\]<>~|&]/g;

/**
 * Escapes a text so that Markdown shows it literally (CommonMark, section 2.4). URLs stay
 * unchanged.
 */
export const escapeMarkdown = (text: string): string =>
  text
    .split(ADDRESS)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(MARKS, '\\$&')))
    .join('')
    .split('\n')
    .map(escapeStart)
    .join('\n');

const escapeStart = (line: string): string =>
  line
    .replace(/^(?: {4,}|[ ]*\t\s*)/, (blank) => '\u00a0'.repeat(blank.length))
    .replace(/^(\s*)([#+=-])/, '$1\\$2')
    .replace(/^(\s*\d{1,9})([.)])/, '$1\\$2');

export interface MarkdownValue {
  text: string;
  isMarkdown: boolean;
}

/** Place of the value with this index. Markdown reads it as a word. */
export const markValue = (index: number): string => `\ue000${index}\ue001`;
/** Parsing each notice would slow down the acceptance of deliveries. */
const MAY_HAVE_CODE = /[`\t]|~~~| {4}/;
const MARKED = /\ue000(\d+)\ue001/g;

/**
 * Inserts values at their marks. In code, where Markdown has no escapes, they stay unchanged and
 * the delimiters become longer than the backticks in them (CommonMark, sections 4.5 and 6.1).
 */
export const insertValues = (marked: string, values: MarkdownValue[]): string => {
  const source = marked.replace(/\r\n?/g, '\n');
  const fill = (text: string, format: (value: MarkdownValue) => string): string =>
    text.replace(MARKED, (mark, index) => {
      const value = values[Number(index)];
      return value ? format(value) : mark;
    });
  const parts: string[] = [];
  let end = 0;
  for (const { from, to, write } of findCode(source)) {
    parts.push(fill(source.slice(end, from), formatProse), write(fill));
    end = to;
  }
  return [...parts, fill(source.slice(end), formatProse)].join('');
};

const formatProse = ({ text, isMarkdown }: MarkdownValue): string =>
  isMarkdown ? text : escapeMarkdown(text);

type Fill = (text: string, format: (value: MarkdownValue) => string) => string;

interface Code {
  from: number;
  to: number;
  write(fill: Fill): string;
}

const hasMark = (text: string): boolean => text.search(MARKED) >= 0;

/** Finds the code spans and code blocks with values, in their order. */
const findCode = (source: string): Code[] => {
  if (!hasMark(source) || !MAY_HAVE_CODE.test(source)) return [];
  const lines = source.split('\n');
  const found: Code[] = [];
  let isCell = false;
  for (const token of markdownParser().parse(source, {})) {
    if (token.type === 'fence' || token.type === 'code_block') {
      const code = hasMark(token.content + token.info) && findBlock(lines, token);
      if (code) found.push(code);
    }
    for (const span of token.children?.flatMap(withChildren) ?? []) {
      const code = span.type === 'code_inline' && findSpan(source, span, isCell);
      if (code) found.push(code);
    }
    isCell = /^t[hd]_open$/.test(token.type);
  }
  return found;
};

const withChildren = (token: MarkdownToken): MarkdownToken[] => [
  token,
  ...(token.children?.flatMap(withChildren) ?? []),
];

/** `isCell`: within a table, where also code escapes `|`. */
const findSpan = (
  source: string,
  { content, markup }: MarkdownToken,
  isCell: boolean,
): Code | null => {
  const marks = content.match(MARKED);
  const [first, last] = [marks?.at(0), marks?.at(-1)];
  if (first === undefined || last === undefined) return null;
  const runs = new RegExp(`(?:(?<!\`)|(?<=\\\\\`))${markup}(?!\`)`, 'g');
  const at = [...source.matchAll(runs)].map(({ index }) => index);
  const start = source.indexOf(first);
  const from = at.findLast((index) => index < start);
  const after = at.find((index) => index > start && index >= source.indexOf(last));
  if (from === undefined || after === undefined) return null;
  const write = (fill: Fill): string => {
    const text = fill(content, (value) => value.text.replace(/\r\n?|\n/g, ' ')) || ' ';
    const ticks = lengthen(markup, text);
    const isPadded = /^`|`$/.test(text) || (/^ .* $/.test(text) && text.trim() !== '');
    const inside = isPadded ? ` ${text} ` : text;
    return `${ticks}${isCell ? inside.replaceAll('|', '\\|') : inside}${ticks}`;
  };
  return { from, to: after + markup.length, write };
};

const findBlock = (lines: string[], { content, info, markup, map, type }: MarkdownToken): Code => {
  const [start, end] = map ?? [0, 0];
  const offset = lines.slice(0, start).reduce((sum, line) => sum + line.length + 1, 0);
  const source = lines.slice(start, end);
  const length = source.join('\n').length;
  const isFence = type === 'fence';
  const inside = content === '' ? [] : content.replace(/\n$/, '').split('\n');
  const write = (fill: Fill): string => {
    const texts = inside.map((line) => fill(line, ({ text }) => text).split(/\r\n?|\n/));
    const fence = isFence ? lengthen(markup, texts.flat().join('\n')) : '';
    const written = source.map((line, at) => {
      const text = texts[isFence ? at - 1 : at];
      const own = inside[isFence ? at - 1 : at] ?? '';
      if (text !== undefined) return writeLines(line, own, text);
      if (at > 0) return line.replace(/[`~]+(?=\s*$)/, fence);
      const opened = line.replace(markup, fence);
      return info === '' ? opened : fill(opened, formatInfo);
    });
    return written.join('\n');
  };
  return { from: offset, to: offset + length, write };
};

/** Each line of a value gets the quote marks and the indentation of the line that it is in. */
const writeLines = (line: string, content: string, texts: string[]): string => {
  const own = line.endsWith(content) ? content : content.trimStart();
  const prefix = line.slice(0, line.length - own.length);
  return prefix + texts.join(`\n${prefix.replace(/[^>\s]/g, ' ')}`);
};

/** The first line of a fence must not contain its character (CommonMark, section 4.5). */
const formatInfo = ({ text }: MarkdownValue): string =>
  escapeMarkdown(text.replace(/[`~\s]+/g, ' '));

/** Makes a delimiter longer than all runs of its character in the text, if one could end the code. */
const lengthen = (markup: string, text: string): string => {
  const [sign = ''] = markup;
  const runs = text.match(new RegExp(`${sign}+`, 'g')) ?? [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 0);
  return longest < markup.length ? markup : sign.repeat(longest + 1);
};
