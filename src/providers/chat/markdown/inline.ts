import { addressRuns, linkRuns } from './address.js';
import { type RunStyle, type TextRun, textOfRuns } from './lines.js';
import { type MarkdownToken, markdownParser } from './parse.js';

interface OpenLink {
  address: string;
  start: number;
  line: number;
}

const STYLES: Record<string, keyof Omit<RunStyle, 'url'>> = {
  strong: 'isBold',
  em: 'isItalic',
  s: 'isStruck',
};

export const inlineRuns = (tokens: readonly MarkdownToken[]): TextRun[][] => {
  const lines: TextRun[][] = [[]];
  const depths = { isBold: 0, isItalic: 0, isStruck: 0, isCode: 0 };
  let link: OpenLink | null = null;
  const style = (): RunStyle => ({
    ...(depths.isBold > 0 && { isBold: true }),
    ...(depths.isItalic > 0 && { isItalic: true }),
    ...(depths.isStruck > 0 && { isStruck: true }),
  });
  const last = (): TextRun[] => lines.at(-1) ?? [];
  const endLink = ({ address, start, line }: OpenLink): void => {
    const isWhole = line === lines.length;
    const words = last().splice(isWhole ? start : 0);
    last().push(...linkRuns(words, address).map((run) => ({ ...style(), ...run })));
  };
  for (const token of tokens) {
    const [name = '', edge] = token.type.split('_');
    const styled = STYLES[name];
    if (styled) depths[styled] += edge === 'open' ? 1 : -1;
    else if (token.type === 'softbreak' || token.type === 'hardbreak') lines.push([]);
    else if (token.type === 'link_open') {
      const address = String(token.attrGet('href') ?? '');
      link = { address, start: last().length, line: lines.length };
    } else if (token.type === 'link_close') {
      if (link) endLink(link);
      link = null;
    } else last().push(...leafRuns(token).map((run) => ({ ...style(), ...run })));
  }
  return lines;
};

const leafRuns = (token: MarkdownToken): TextRun[] => {
  if (token.type === 'code_inline') return [{ text: token.content, isCode: true }];
  if (token.type !== 'image') return [{ text: token.content }];
  const address = String(token.attrGet('src') ?? '');
  return linkRuns([{ text: token.content.trim() || 'image' }], address);
};

/**
 * Only URLs are links. The runs spell exactly the line: a URL that would be shown differently is
 * code.
 */
export const plainRuns = (line: string): TextRun[] => {
  const { linkify } = markdownParser();
  const found = line.includes(':') ? (linkify.match(line) ?? []) : [];
  const runs: TextRun[] = [];
  let end = 0;
  for (const { index, lastIndex, raw } of found) {
    const shown = addressRuns(raw);
    const isWhole = textOfRuns(shown) === raw;
    runs.push({ text: line.slice(end, index) });
    runs.push(...(isWhole ? shown : [{ text: raw, isCode: true } as const]));
    end = lastIndex;
  }
  return [...runs, { text: line.slice(end) }];
};
