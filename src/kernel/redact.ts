import { escapesOf, inJson } from './escapes.js';

const SHOWN = '[secret]';
/** Ours: a shorter piece of a value may stand in a text by chance. */
export const SHORTEST_PIECE = 8;
/** Ours: of a value of many lines each may come back alone, indented, or with other line ends. */
const SHORTEST_LINE = 16;
const ARMOUR = /^-----/;
/** As PEM (RFC 7468) and MIME (RFC 2045) wrap it. */
const WRAPS = [64, 76];

/** Replaces every one of the values in a text, however it is written there. */
export type Redact = (text: string) => string;

/**
 * As they are, and as they are usually written elsewhere: base64, hex, in an address, in JSON, in
 * HTML. A text that was cut off may end in the beginning of one.
 */
export const redactor = (values: string[]): Redact => {
  const forms = values.flatMap((value) => [value, ...linesOf(value), ...encodedForms(value)]);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) =>
    withoutBeginning(
      longestFirst.reduce((left, form) => left.replaceAll(form, SHOWN), text),
      longestFirst,
    );
};

/** The same through all that a value holds. */
export const redacted = (value: unknown, redact: Redact): unknown =>
  mapTexts(value, redact, (inner) => redacted(inner, redact));

/** Every text of a value changed; `deeper` is asked for what it holds. */
export const mapTexts = (
  value: unknown,
  change: (text: string) => string,
  deeper: (inner: unknown) => unknown,
): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map(deeper);
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), deeper(inner)]),
  );
};

const linesOf = (value: string): string[] => {
  const trimmed = value.trim();
  if (trimmed.length < SHORTEST_PIECE) return [];
  const lines = trimmed.split('\n').map((line) => line.trim());
  const own = lines.filter((line) => line.length >= SHORTEST_LINE && !ARMOUR.test(line));
  return [trimmed, inJson(trimmed), ...own];
};

const withoutBeginning = (text: string, forms: string[]): string => {
  const end = text.slice(-SHORTEST_PIECE);
  if (end.length < SHORTEST_PIECE) return text;
  const cut = Math.max(0, ...forms.map((form) => beginningAtEnd(text, form, end)));
  return cut === 0 ? text : `${text.slice(0, -cut)}${SHOWN}`;
};

/** How much of the form's beginning is the text's end; `end` is the last of it. */
const beginningAtEnd = (text: string, form: string, end: string): number => {
  let longest = 0;
  for (let at = form.indexOf(end); at !== -1; at = form.indexOf(end, at + 1)) {
    const length = at + end.length;
    if (text.endsWith(form.slice(0, length))) longest = length;
  }
  return longest;
};

const encodedForms = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  return [
    ...base64Forms(bytes),
    ...[hex, hex.toUpperCase()].filter(({ length }) => length >= SHORTEST_PIECE),
    ...escapesOf(value),
  ];
};

/**
 * In base64 a value looks otherwise by how many bytes stand before it, as a name does before a
 * password. Of each way the characters that are the value's alone.
 */
const base64Forms = (bytes: Buffer): string[] => {
  const whole = [bytes.toString('base64'), bytes.toString('base64url')];
  const shifted = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    return (['base64', 'base64url'] as const).map((form) =>
      padded.toString(form).slice(first, last),
    );
  });
  return [
    ...whole,
    ...WRAPS.flatMap((width) => wrapped(whole[0] ?? '', width)),
    ...shifted.filter(({ length }) => length >= SHORTEST_PIECE),
  ];
};

const wrapped = (text: string, width: number): string[] => {
  if (text.length <= width) return [];
  const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return ['\n', '\r\n', '\\n', '\\r\\n'].map((end) => lines.join(end));
};
