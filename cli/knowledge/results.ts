import { styleText } from 'node:util';
import type { KnowledgeResults } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { oneLine, safe, wrapText } from '../text.js';

export type FoundResult = KnowledgeResults['results'][number];
type PrintedSpan = [from: number, to: number];

const INDENT = 2;

export const resultLines = ({ streams, out }: Context, results: FoundResult[]): string[] => {
  const hasColors = streams.stdout.hasColors?.() === true;
  return results.flatMap((result, at) => [
    ...(at > 0 ? [''] : []),
    ...wrapText(formatResultHeader(result), out.width),
    ...snippetLines(result, out.width - INDENT, hasColors).map((line) => ' '.repeat(INDENT) + line),
  ]);
};

type HeadFacts = Pick<FoundResult, 'title' | 'page' | 'sourceType' | 'trust' | 'entryId' | 'chunk'>;

export const formatResultHeader = ({
  title,
  page,
  sourceType,
  trust,
  entryId,
  chunk,
}: HeadFacts): string =>
  [
    oneLine(title),
    ...(page === null ? [] : [`page ${page}`]),
    sourceType,
    ...(trust === 'outside' ? ['from outside'] : []),
    `${entryId.slice(-6)} ${chunk}`,
  ].join(' · ');

/** Folds a snippet, and then marks the matches in each line. */
const snippetLines = (result: FoundResult, width: number, hasColors: boolean): string[] => {
  const { text, spans } = printable(result);
  let start = 0;
  return wrapText(text, width).map((line) => {
    const own = spans.map(([from, to]): PrintedSpan => [from - start, to - start]);
    // One space is dropped between two lines.
    start += line.length + 1;
    return hasColors ? marked(line, own) : line;
  });
};

/** Makes a snippet safe to print, and adjusts the positions of the matches. */
const printable = ({
  snippet,
  highlights,
}: FoundResult): { text: string; spans: PrintedSpan[] } => {
  let text = '';
  let at = 0;
  const spans = highlights.map(([from = 0, to = 0]): PrintedSpan => {
    text += safe(snippet.slice(at, from));
    const start = text.length;
    text += safe(snippet.slice(from, to));
    at = to;
    return [start, text.length];
  });
  return { text: text + safe(snippet.slice(at)), spans };
};

const marked = (line: string, spans: PrintedSpan[]): string => {
  let shown = '';
  let at = 0;
  for (const [from, to] of spans) {
    const [begin, end] = [Math.max(from, at), Math.min(to, line.length)];
    if (end <= begin) continue;
    shown += line.slice(at, begin);
    shown += styleText('bold', line.slice(begin, end), { validateStream: false });
    at = end;
  }
  return shown + line.slice(at);
};
