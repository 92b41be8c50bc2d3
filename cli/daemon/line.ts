import { valueAt } from '../columns.js';
import { oneLine, plainText, safe, safeJson } from '../text.js';
import { localTime } from '../times.js';

const LEVEL_WIDTH = 5;

/** A line of the log for a person: local time, level, what happened, then `key=value`. */
export const readable = (line: string): string => {
  const entry = entryOf(line);
  if (entry === null) return safe(line);
  const { at, level, msg, err, ...rest } = entry;
  const said = [timeIn(at), levelIn(level), oneLine(plainText(msg)).padEnd(12), ...pairs(rest)];
  const error = err === undefined ? [] : [`error=${quoted(valueAt(err, 'message') ?? err)}`];
  return [[...said, ...error].join(' ').trimEnd(), ...stackOf(err)].join('\n');
};

/** The same for a machine: always one JSON object; what a crash printed is its `msg`. */
export const asJson = (line: string): string =>
  entryOf(line) === null ? safeJson({ msg: line }) : line;

/** The lines of a log that say what went wrong: those that are no entries, else its errors. */
export const complaints = (lines: string[]): string[] => {
  const plainLines = lines.filter((line) => entryOf(line) === null);
  if (plainLines.length > 0) return plainLines.map(safe);
  return lines
    .filter((line) => ['error', 'fatal'].includes(plainText(entryOf(line)?.level)))
    .map(readable);
};

const entryOf = (line: string): Record<string, unknown> | null => {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

const timeIn = (at: unknown): string =>
  typeof at === 'string' ? `${localTime(at)}.${at.slice(20, 23)}` : ' '.repeat(12);

/** Errors are written large, so that they are found without colours. */
const levelIn = (level: unknown): string => {
  const word = oneLine(plainText(level)).padEnd(LEVEL_WIDTH);
  return /^(error|fatal)/.test(word) ? word.toUpperCase() : word;
};

/** Orders fields with the event first; ids are long, and looked up rather than read. */
const pairs = (values: Record<string, unknown>): string[] => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  const isId = ([key]: [string, unknown]) => key.endsWith('Id');
  return [...given.filter((each) => !isId(each)), ...given.filter(isId)].map(
    ([key, value]) => `${oneLine(key)}=${quoted(value)}`,
  );
};

const quoted = (value: unknown): string => {
  const text = oneLine(plainText(value));
  return /[\s"]/.test(text) && typeof value === 'string' ? JSON.stringify(text) : text;
};

const stackOf = (err: unknown): string[] => {
  const stack = valueAt(err, 'stack');
  if (typeof stack !== 'string') return [];
  return safe(stack)
    .split('\n')
    .slice(1)
    .map((line) => `    ${line.trim()}`);
};
