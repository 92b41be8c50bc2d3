import type { Effort } from './effort.js';
import { formsOf } from './secretforms.js';
import { spansIn } from './spans.js';
import { Trie } from './trie.js';

const SHOWN = '[secret]';

/** Replaces every occurrence of the values in a text, in any encoding. */
export type Redact = (text: string) => string;

/**
 * Creates a function that finds the values as they are, and as they are usually encoded: in base64
 * or hex, and with each character escaped as any text format does, up to three times over. A text
 * that was cut off may end in the beginning of a value. It takes some milliseconds for 64 KiB, and
 * up to a second for a text made to be slow: untrusted text goes to `redactApart`. Throws
 * TooMuchEffort if all texts together exceed `effort`.
 */
export const redactor = (values: string[], shown = SHOWN, effort?: Effort): Redact => {
  const trie = trieOf(values);
  return (text) => {
    const { found, cut } = spansIn(text, trie, effort);
    if (cut < text.length) found.push([cut, text.length]);
    return replaced(text, found, shown);
  };
};

/** Redacts all texts in a value, at every depth. */
export const redacted = (value: unknown, redact: Redact): unknown =>
  mapTexts(value, redact, (inner) => redacted(inner, redact));

export type RedactedStream = ReturnType<typeof redactedStream>;

/**
 * Creates a filter that passes a text on, piece by piece, without the values. If the end of a piece
 * may be the beginning of a value, it is held back until later pieces, or `end`, show if it is.
 * Ours: while much text is held back, it is searched again only after a quarter as much has come,
 * so that the cost of a text is not the square of its length.
 */
export const redactedStream = (values: string[], onText: (text: string) => void, shown = SHOWN) => {
  const trie = trieOf(values);
  let held = '';
  let looked = 0;
  return {
    take: (piece: string): void => {
      held += piece;
      if (held.length - looked < looked / 4) return;
      const { found, open } = spansIn(held, trie);
      const spans = merged(found);
      const within = spans.find(([begin, end]) => begin < open && open < end);
      const until = within ? within[0] : open;
      const ready = spans.filter(([, end]) => end <= until);
      const text = replaced(held.slice(0, until), ready, shown);
      held = held.slice(until);
      looked = held.length;
      if (text !== '') onText(text);
    },
    /** Passes on the text that was held back, because no more follows. */
    end: (): void => {
      const text = replaced(held, spansIn(held, trie).found, shown);
      held = '';
      looked = 0;
      if (text !== '') onText(text);
    },
  };
};

/** Changes every text of a value. `deeper` is called for each inner value. */
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

const trieOf = (values: string[]): Trie => new Trie(values.flatMap(formsOf));

/** Sorts the spans and joins those that touch or overlap. */
const merged = (spans: [number, number][]): [number, number][] => {
  const whole: [number, number][] = [];
  for (const [begin, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = whole.at(-1);
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end);
    else whole.push([begin, end]);
  }
  return whole;
};

const replaced = (text: string, spans: [number, number][], shown: string): string => {
  if (spans.length === 0) return text;
  let left = '';
  let from = 0;
  for (const [begin, end] of merged(spans)) {
    left += text.slice(from, begin) + shown;
    from = end;
  }
  return left + text.slice(from);
};
