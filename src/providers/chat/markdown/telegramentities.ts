import {
  groupsOf,
  indentOf,
  isSameBlock,
  joinedRuns,
  markerText,
  type TextLine,
  type TextRun,
  textOfRuns,
} from './lines.js';

/** A range of a text that has a style, in UTF-16 units (Bot API, MessageEntity). */
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

/** Telegram ignores further entities of a message. */
export const MAX_ENTITIES = 100;

/**
 * Words of which Telegram makes a mention, a command or a link into the app, wherever they stand in
 * a text: a tap on a command sends it to the bot in the name of the reader. What follows a command
 * up to the end of its path belongs to it, so that a text that is cut there holds no new one. A
 * link may begin in the middle of a word, which may be a name or a command.
 */
const TAPPED =
  /(?:(?<![\p{L}\p{N}_])@\w{2,}|(?<![\p{L}\p{N}_/<>])\/\w[\w/@<>]*)(?::\/\/\S*)?|(?:tg|ton|tonsite):\/\/\S*/giu;
const APP_LINKS = /(?:tg|ton|tonsite):\/\//gi;

/** Characters that Telegram removes from a text before it looks for links (TDLib, misc.cpp). */
const REMOVED = /[\u2028-\u202e]|\u030a|\u0333|\u033f/g;

/**
 * Returns lines in which names, commands and links into the app are code, since Telegram finds none
 * of them in code. Lists and quotes within quotes are shown as text.
 */
export const telegramLines = (lines: readonly TextLine[]): TextLine[] =>
  lines.map((line) =>
    line.kind === 'code' ? line : { ...line, runs: untapped(line.runs.map(asReceived)) },
  );

/**
 * Returns a run as Telegram reads it. A web address that contains a link into the app is code:
 * Telegram may end the web address before that link.
 */
const asReceived = (run: TextRun): TextRun => {
  const text = run.text.replace(REMOVED, '');
  return run.url !== undefined && text.search(APP_LINKS) >= 0
    ? { text, isCode: true }
    : { ...run, text };
};

/** Telegram reads the text without its styles, so a name may begin in one run and end in the next. */
const untapped = (runs: TextRun[]): TextRun[] => {
  const taps = [...textOfRuns(runs).matchAll(TAPPED)];
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

/** Returns the text of a message and its entities, which never overlap in part. */
export const telegramText = (lines: readonly TextLine[]): TelegramText => {
  const entities: TelegramEntity[] = [];
  let text = '';
  for (const [at, group] of groupsOf(lines, isTogether).entries()) {
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

/** Returns the text with further lines behind it, and adds the entities of their runs. */
const appended = ({ text: before, entities }: TelegramText, lines: TextLine[]): string => {
  let text = before;
  for (const [at, line] of lines.entries()) {
    text += (at > 0 ? '\n' : '') + prefixOf(line);
    for (const run of line.runs) {
      if (run.text.trim() !== '') {
        for (const type of typesOf(line, run)) {
          entities.push({ type, offset: text.length, length: run.text.length });
        }
      }
      text += run.text;
    }
  }
  return text;
};

const prefixOf = (line: TextLine): string =>
  '> '.repeat(Math.max(0, line.quote - 1)) + indentOf(line) + markerText(line);

const typesOf = ({ kind }: TextLine, run: TextRun): TelegramEntity['type'][] => {
  if (run.isCode) return ['code'];
  const isStrong = kind === 'title' || kind === 'heading' || run.isBold;
  return [
    ...(isStrong ? (['bold'] as const) : []),
    ...(run.isItalic ? (['italic'] as const) : []),
    ...(run.isStruck ? (['strikethrough'] as const) : []),
  ];
};

/** The number of UTF-16 units of a line with its line end. */
export const telegramSize = (line: TextLine): number =>
  prefixOf(line).length + textOfRuns(line.runs).length + 1;

/** The greatest number of entities of a line. */
export const telegramEntityCount = (line: TextLine): number => {
  if (line.kind === 'code') return line.isBlockStart ? 1 : 0;
  const ofRuns = line.runs.reduce((sum, run) => sum + typesOf(line, run).length, 0);
  return ofRuns + (line.quote > 0 ? 1 : 0);
};

/** U+2060, word joiner. */
const HIDDEN = '\u2060';

/**
 * Returns a text for where no entities are: names, commands and links into the app are broken, web
 * addresses are not.
 */
export const untappedText = (text: string): string =>
  text
    .replace(REMOVED, '')
    .replace(/\S+/g, (word) =>
      word.replace(word.includes('://') ? APP_LINKS : TAPPED, (found) => broken(found)),
    );

const broken = (found: string): string => `${found[0]}${HIDDEN}${found.slice(1)}`;
