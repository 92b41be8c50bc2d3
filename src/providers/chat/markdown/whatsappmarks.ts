import {
  formatListIndent,
  groupLines,
  isSameBlock,
  markerText,
  splitOuterSpace,
  type TextLine,
  type TextRun,
  textOfRuns,
} from './lines.js';

const FENCE = '```';
/** U+2060, word joiner. Never put into a URL. */
const HIDDEN = '\u2060';
export const WHATSAPP_FENCES = 8;

const MARKS = [
  ['isStruck', '~'],
  ['isItalic', '_'],
  ['isBold', '*'],
] as const;

export const writeWhatsapp = (lines: readonly TextLine[]): string =>
  groupLines(lines, isSameBlock)
    .map((group) =>
      group[0]?.kind === 'code'
        ? [FENCE, ...group.map(codeText), FENCE].join('\n')
        : group.map(lineText).join('\n'),
    )
    .join('\n');

export const whatsappSize = (line: TextLine): number =>
  line.kind === 'code'
    ? codeText(line).length + 1 + (line.isBlockStart ? WHATSAPP_FENCES : 0)
    : prefixSize(line) + line.runs.reduce((sum, run) => sum + runSize(run), 0);

const prefixSize = (line: TextLine): number =>
  formatListIndent(line).length + markerText(line).length + 2 * line.quote + 2;

/** Each style has a mark at both ends. */
const runSize = (run: TextRun): number =>
  unmarked(run.text).length + 2 + 2 * MARKS.filter(([style]) => run[style]).length;

/** A fence within code would end it. */
const codeText = ({ runs }: TextLine): string =>
  textOfRuns(runs).replace(/`(?=``)/g, `\`${HIDDEN}`);

const lineText = (line: TextLine): string => {
  const { kind, quote, depth, marker, runs } = line;
  const isStrong = kind === 'title' || kind === 'heading';
  const text = runs
    .map((run, at) => {
      const edges = [runs[at - 1]?.text.at(-1), runs[at + 1]?.text[0]];
      return styledText(isStrong ? { ...run, isBold: true } : run, edges);
    })
    .join('');
  const isNative = marker?.number === null && marker.isDone === null && depth === 1;
  const before = isNative ? '- ' : formatListIndent(line) + markerText(line);
  const start =
    before === '' && quote === 0
      ? text.replace(/^(?=[ \t]*(?:[>-]|\d{1,9}\.)[ \t])/, HIDDEN)
      : text;
  return `${'> '.repeat(Math.min(1, quote))}${before}${start}`.trimEnd();
};

const WORD = /^[\p{L}\p{N}]$/u;

/**
 * WhatsApp reads marks only between words and has no escape: a run within a word, or containing a
 * mark, is shown unstyled, and so is a URL.
 */
const styledText = (run: TextRun, edges: (string | undefined)[]): string => {
  const { text, url, isCode } = run;
  if (url !== undefined) return unmarked(text);
  const [before, content, after] = splitOuterSpace(text);
  const isWithin =
    (before === '' && WORD.test(edges[0] ?? '')) || (after === '' && WORD.test(edges[1] ?? ''));
  if (
    content === '' ||
    isWithin ||
    /[*_~`]/.test(isCode ? content.replace(/[*_~]/g, '') : content)
  ) {
    return unmarkedBehind(edges[0] ?? '', text);
  }
  if (isCode) return `${before}\`${content}\`${after}`;
  const marks = MARKS.filter(([style]) => run[style]).map(([, mark]) => mark);
  return before + marks.toReversed().join('') + unmarked(content) + marks.join('') + after;
};

/** A mark after a word opens nothing. */
const unmarkedBehind = (before: string, text: string): string =>
  WORD.test(before) ? unmarked(before + text).slice(before.length) : unmarked(text);

const MARK = /[*_~`]/;
const OPENING = /(?<![\p{L}\p{N}])[*_~`]+/gu;
/**
 * A URL with a scheme, `www.`, or a host with port, path, query or fragment; or marks. The pattern
 * scans no host twice.
 */
const ADDRESS_OR_MARKS =
  /(?:(?<![\p{L}\p{N}+.-])[a-z][a-z\d+.-]{0,30}:\/\/|(?<![\p{L}\p{N}.-])(?:www\.|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?::\d{1,5})?[/?#]))\S+|(?<![\p{L}\p{N}])[*_~`]+/giu;

const encoded = (marks: string): string =>
  [...marks].map((mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`).join('');

/**
 * An invisible character follows each mark that could open something. In a URL the mark is
 * percent-encoded (RFC 3986, 2.1).
 */
export const unmarked = (text: string): string =>
  text.replace(ADDRESS_OR_MARKS, (found) =>
    MARK.test(found[0] ?? '') ? [...found, ''].join(HIDDEN) : found.replace(OPENING, encoded),
  );
