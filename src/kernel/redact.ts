import { formsOf } from './secretforms.js';
import { spansIn } from './spans.js';
import type { Effort } from './stepbudget.js';
import { Trie } from './trie.js';

const SHOWN = '[secret]';

/** Replaces every one of the values in a text, however it is written there. */
export type Redact = (text: string) => string;

/**
 * As they are, and as they are usually written elsewhere: encoded in base64 or hex, and each of
 * their characters escaped as any text format does, up to three times over. A text that was cut
 * off may end in the beginning of one. Takes some milliseconds for 64 KiB, and up to a second where a
 * text is made for it: what strangers wrote goes to `redactApart`. TooMuchEffort of all texts together.
 */
export const redactor = (values: string[], shown = SHOWN, effort?: Effort): Redact => {
  const trie = trieOf(values);
  return (text) => {
    const { found, cut } = spansIn(text, trie, effort);
    if (cut < text.length) found.push([cut, text.length]);
    return replaced(text, found, shown);
  };
};

/** The same through all that a value holds. */
export const redacted = (value: unknown, redact: Redact): unknown =>
  mapTexts(value, redact, (inner) => redacted(inner, redact));

/** Hands a text on piece by piece without the values. */
export interface RedactedStream {
  take(piece: string): void;
  /** Hands on what was held back, since no value follows. */
  end(): void;
}

/**
 * The end of a piece that may be the beginning of a value is held back until later pieces, or
 * `end`, show whether it is. Ours: while much is held back, it is looked at again only once a
 * quarter as much has come, so that no text costs the square of its length.
 */
export const redactedStream = (
  values: string[],
  onText: (text: string) => void,
  shown = SHOWN,
): RedactedStream => {
  const trie = trieOf(values);
  let held = '';
  let looked = 0;
  return {
    take: (piece) => {
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
    end: () => {
      const text = replaced(held, spansIn(held, trie).found, shown);
      held = '';
      looked = 0;
      if (text !== '') onText(text);
    },
  };
};

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

const trieOf = (values: string[]): Trie => new Trie(values.flatMap(formsOf));

/** In their order, those that touch or overlap as one. */
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
