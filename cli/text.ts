import { systemClock } from '../src/kernel/clock.js';
import { shellWord } from '../src/kernel/shellword.js';
import { computeTextWidth, graphemesIn } from '../src/kernel/width.js';

const HIDDEN =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const TAB = ' '.repeat(4);

/**
 * Makes text from outside safe to print: control characters, escapes and marks that change the
 * direction of writing become visible (`\x1b`). Line feeds stay. Tabs, which separate columns of
 * sheets, become spaces, whose width is known.
 */
export const safe = (text: string): string => text.replaceAll('\t', TAB).replace(HIDDEN, visible);

/** For text that a person decides on: invisible characters become visible, too. */
export const revealInvisible = (text: string): string =>
  safe(text).replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);

/** For one line: tabs become `\x09` and line feeds `\n`. */
export const oneLine = (text: string): string =>
  text.replace(HIDDEN, visible).replaceAll('\n', '\\n');

/** Escapes these characters, which does not change the JSON, so that no terminal obeys them. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value).replace(HIDDEN, (char) => `\\u${hex(char, 4)}`);

/** One value of a tab-separated line: tabs, line feeds and backslashes escaped. */
export const cell = (value: unknown): string =>
  oneLine(plainText(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t'));

/** A value as text, in full: empty for null, JSON for objects. */
export const plainText = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** Truncates to that many columns, with `…`. */
export const cutToWidth = (text: string, width: number): string => {
  if (computeTextWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const grapheme of graphemesIn(text)) {
    used += grapheme.width;
    if (used > width - 1) break;
    kept += grapheme.text;
  }
  return `${kept}…`;
};

/** Wraps at spaces. A word that is longer is broken. */
export const wrapped = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  const end = (): void => {
    lines.push(line.trimEnd());
    line = '';
    used = 0;
  };
  for (const word of text.split(/(?<= )/)) {
    const bare = computeTextWidth(word.trimEnd());
    if (line !== '' && used + bare > width) end();
    if (used + bare <= width) {
      line += word;
      used += computeTextWidth(word);
      continue;
    }
    // Each character is measured once: a text without spaces is one word.
    for (const { text: sign, width: wide } of graphemesIn(word)) {
      if (line !== '' && sign !== ' ' && used + wide > width) end();
      line += sign;
      used += wide;
    }
  }
  return [...lines, line.trimEnd()];
};

/**
 * Wraps at spaces where possible; continuation lines are indented. A longer word, such as an
 * address or a key, stays whole, so that it can be copied.
 */
export const wrapText = (text: string, width: number, indent = 0): string[] => {
  const before = ' '.repeat(indent);
  const [first = '', ...words] = text.split(/(?<=\S) (?=\S)/);
  const lines: string[] = [];
  let line = first;
  for (const word of words) {
    if (computeTextWidth(`${line} ${word}`) <= width) {
      line += ` ${word}`;
    } else {
      lines.push(line);
      line = before + word;
    }
  }
  return [...lines, line];
};

/** A command within a sentence. */
const COMMAND = /(?:\badjutant [a-z]|\bcurl )(?:(?! {2})(?![.:]( |$))[^,;)])*/g;
/** Stands for a space at which no line may break. */
const FIXED = '\u0001';
/** A line with fewer characters beside its command is not wrapped. */
const LABEL = 40;

/**
 * Wraps like wrapText, but never within a command, so that it can be pasted. A line that is a
 * command with a short label stays whole.
 */
export const wrapProse = (
  line: string,
  width: number,
  indent = line.length - line.trimStart().length,
): string[] => {
  const rest = line.replace(COMMAND, '');
  if (rest !== line && computeTextWidth(rest) < LABEL) return [line];
  const glued = line.replace(
    COMMAND,
    (command) =>
      command.trimEnd().replaceAll(' ', FIXED) +
      ' '.repeat(command.length - command.trimEnd().length),
  );
  return wrapText(glued, width, indent).map((each) => each.replaceAll(FIXED, ' '));
};

export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - computeTextWidth(text)));

const visible = (char: string): string => {
  const code = char.charCodeAt(0);
  return code < 256 ? `\\x${hex(char, 2)}` : `\\u${hex(char, 4)}`;
};
const hex = (char: string, digits: number): string =>
  char.charCodeAt(0).toString(16).padStart(digits, '0');

/** Milliseconds since 1970. */
export const { now } = systemClock;

const SECOND = 1000;
const UNITS: [string, number][] = [
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
];

/** `2 minutes ago`; a future time is `in 3 days`. */
export const ago = (time: string): string => {
  const ms = now() - Date.parse(time);
  const unit = UNITS.find(([, length]) => Math.abs(ms) >= length);
  if (!unit) return Math.abs(ms) < 5 * SECOND ? 'just now' : inWords('second', ms, SECOND);
  return inWords(unit[0], ms, unit[1]);
};

export const age = (time: string | null): string => (time === null ? 'never' : ago(time));

/** Local time of day, `14:03:21`; with the date if it is not today. */
export const localTime = (time: string): string => {
  const date = new Date(time);
  const clock = date.toLocaleTimeString('en-GB');
  const isToday = date.toDateString() === new Date(now()).toDateString();
  return isToday ? clock : `${formatDay(date)} ${clock}`;
};

/** The local time in a zone, with weekday and offset: `Sat 2026-11-28 02:30 +01:00`. */
export const zonedTime = (time: string, timeZone: string): string => {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, ...ZONED }).formatToParts(
    new Date(time),
  );
  const of = (name: string) => parts.find(({ type }) => type === name)?.value ?? '';
  const offset = of('timeZoneName').replace('GMT', '') || '+00:00';
  const day = [of('year'), of('month'), of('day')].join('-');
  return `${of('weekday')} ${day} ${of('hour')}:${of('minute')} ${offset}`;
};

const ZONED: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'longOffset',
};

/** `0.8 s`, `33 s`, `2 m 05 s`. */
export const duration = (ms: number): string => {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
};

const inWords = (unit: string, ms: number, length: number): string => {
  const words = formatCount(Math.floor(Math.abs(ms) / length), unit);
  return ms >= 0 ? `${words} ago` : `in ${words}`;
};

/** `1 step`, `2 steps`. */
export const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

const formatDay = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
const two = (value: number): string => String(value).padStart(2, '0');

/** API calls in messages of the daemon, and the commands or flags to show instead. */
const COMMANDS: [call: RegExp, command: string][] = [
  [/POST \/api\/tasks\/(\w+)\/complete\?cascade=true/g, 'adjutant tasks complete $1 --cascade'],
  [/DELETE \/api\/tasks\/(\w+)\?cascade=true/g, 'adjutant tasks delete $1 --cascade'],
  [/GET \/api\/skills\/tools\/all/g, 'adjutant skills tools'],
  [
    /POST \/api\/pipelines\/(\w+)\/stages\/([\w-]+)\/(approve|reject|input)/g,
    'adjutant pipelines $3 $1 $2',
  ],
  [/\bpass force=true\b/g, 'pass --force'],
];

/** Commands that read the home, unless the sentence names one. */
const OF_HOME = /\badjutant (up|down|restart|status|logs|doctor|serve)\b(?![^.,;)]*--home)/g;

export const withHome = (sentence: string, home: string | undefined): string =>
  home === undefined
    ? sentence
    : sentence.replace(OF_HOME, (command) => `${command} --home ${shellWord(home)}`);

export const withCommands = (sentence: string): string =>
  COMMANDS.reduce((text, [call, command]) => text.replace(call, command), sentence);
