import {
  formatListIndent,
  groupLines,
  isSameBlock,
  joinedRuns,
  markerText,
  type TextLine,
  type TextRun,
  textOfRuns,
} from './lines.js';

/** In UTF-16 units (Bot API, MessageEntity). */
export interface TelegramEntity {
  type: 'bold' | 'italic' | 'strikethrough' | 'code' | 'pre' | 'blockquote';
  offset: number;
  length: number;
  language?: string;
}

export interface TelegramText {
  text: string;
  entities: TelegramEntity[];
}

/** Telegram ignores further entities. */
export const MAX_ENTITIES = 100;

/**
 * Text that Telegram turns into a mention, a command or an app link anywhere: a tapped command is
 * sent in the reader's name. A command includes its path, so that a cut text contains no new one. A
 * link may begin within a word.
 */
const TAP_TARGETS =
  /(?:(?<![\p{L}\p{N}_])@\w{2,}|(?<![\p{L}\p{N}_/<>])\/\w[\w/@<>]*)(?::\/\/\S*)?|(?:tg|ton|tonsite):\/\/\S*/giu;
const APP_LINKS = /(?:tg|ton|tonsite):\/\//gi;

/** Telegram removes these before it searches for links (TDLib, misc.cpp). */
const REMOVED = /[\u2028-\u202e]|\u030a|\u0333|\u033f/g;

/**
 * Names, commands and app links become code, where Telegram finds none. Lists and nested quotes are
 * shown as text.
 */
export const telegramLines = (lines: readonly TextLine[]): TextLine[] =>
  lines.map((line) =>
    line.kind === 'code'
      ? line
      : { ...line, runs: withoutTapTargets(line.runs.map(asTelegramReads)) },
  );

/** A URL that contains an app link is code: Telegram may end the URL before that link. */
const asTelegramReads = (run: TextRun): TextRun => {
  const text = run.text.replace(REMOVED, '');
  return run.url !== undefined && text.search(APP_LINKS) >= 0
    ? { text, isCode: true }
    : { ...run, text };
};

/** Telegram reads the text without styles, so a name may span runs. */
const withoutTapTargets = (runs: TextRun[]): TextRun[] => {
  const taps = [...textOfRuns(runs).matchAll(TAP_TARGETS)];
  const pieces: TextRun[] = [];
  let start = 0;
  let next = 0;
  for (const run of runs) {
    const end = start + run.text.length;
    for (let at = start; at < end; ) {
      const { 0: found = '', index = end } = taps[next] ?? {};
      const isTapped = index <= at;
      const stop = Math.min(end, isTapped ? index + found.length : index);
      const text = run.text.slice(at - start, stop - start);
      const isText = !run.isCode && run.url === undefined;
      pieces.push(isTapped && isText ? { text, isCode: true } : { ...run, text });
      if (isTapped && stop === index + found.length) next++;
      at = stop;
    }
    start = end;
  }
  return joinedRuns(pieces);
};

/** Entities never partially overlap. */
export const telegramText = (lines: readonly TextLine[]): TelegramText => {
  const entities: TelegramEntity[] = [];
  let text = '';
  for (const [at, group] of groupLines(lines, isTogether).entries()) {
    const [first] = group;
    if (!first) continue;
    if (at > 0) text += '\n';
    const offset = text.length;
    if (first.kind === 'code') text += group.map(({ runs }) => textOfRuns(runs)).join('\n');
    else text = appended({ text, entities }, group);
    const length = text.length - offset;
    const { language } = first;
    if (text.slice(offset).trim() === '') continue;
    if (first.kind === 'code') {
      entities.push({ type: 'pre', offset, length, ...(language !== '' && { language }) });
    } else if (first.quote > 0) entities.push({ type: 'blockquote', offset, length });
  }
  return {
    text,
    entities: entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length),
  };
};

const isTogether = (first: TextLine, line: TextLine): boolean =>
  isSameBlock(first, line) ||
  (first.kind !== 'code' && line.kind !== 'code' && first.quote > 0 === line.quote > 0);

const appended = ({ text: before, entities }: TelegramText, lines: TextLine[]): string => {
  let text = before;
  for (const [at, line] of lines.entries()) {
    text += (at > 0 ? '\n' : '') + formatLinePrefix(line);
    for (const run of line.runs) {
      if (run.text.trim() !== '') {
        for (const type of listEntityTypes(line, run)) {
          entities.push({ type, offset: text.length, length: run.text.length });
        }
      }
      text += run.text;
    }
  }
  return text;
};

const formatLinePrefix = (line: TextLine): string =>
  '> '.repeat(Math.max(0, line.quote - 1)) + formatListIndent(line) + markerText(line);

const listEntityTypes = ({ kind }: TextLine, run: TextRun): TelegramEntity['type'][] => {
  if (run.isCode) return ['code'];
  const isStrong = kind === 'title' || kind === 'heading' || run.isBold;
  return [
    ...(isStrong ? (['bold'] as const) : []),
    ...(run.isItalic ? (['italic'] as const) : []),
    ...(run.isStruck ? (['strikethrough'] as const) : []),
  ];
};

export const telegramSize = (line: TextLine): number =>
  formatLinePrefix(line).length + textOfRuns(line.runs).length + 1;

export const telegramEntityCount = (line: TextLine): number => {
  if (line.kind === 'code') return line.isBlockStart ? 1 : 0;
  const ofRuns = line.runs.reduce((sum, run) => sum + listEntityTypes(line, run).length, 0);
  return ofRuns + (line.quote > 0 ? 1 : 0);
};

/** U+2060, word joiner. */
const HIDDEN = '\u2060';

/** For text without entities: names, commands and app links are broken, URLs are not. */
export const withoutTapTargetsText = (text: string): string =>
  text
    .replace(REMOVED, '')
    .replace(/\S+/g, (word) =>
      word.replace(word.includes('://') ? APP_LINKS : TAP_TARGETS, (found) => broken(found)),
    );

const broken = (found: string): string => `${found[0]}${HIDDEN}${found.slice(1)}`;
