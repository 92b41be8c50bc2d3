import { listSecretForms } from './secretforms.js';
import { spansIn } from './spans.js';
import type { StepLimit } from './steplimit.js';
import { Trie } from './trie.js';

const SHOWN = '[secret]';

export type Redact = (text: string) => string;

/** For readers who may not see an address. */
export const withoutHost = (text: string, url: string): string => {
  const { host, hostname } = new URL(url);
  return text.replaceAll(host, '…').replaceAll(hostname, '…');
};

/**
 * Finds the values as they are, in base64 or hex, and escaped by any text format, up to three
 * times. A truncated text may end with the start of a value. Takes milliseconds for 64 KiB, and up
 * to a second for crafted text: use `redactInWorker` for untrusted text. Throws TooMuchEffort above
 * `effort`.
 */
export const redactor = (values: string[], shown = SHOWN, effort?: StepLimit): Redact => {
  const trie = buildTrie(values);
  return (text) => {
    const { found, cut } = spansIn(text, trie, effort);
    if (cut < text.length) found.push([cut, text.length]);
    return replaced(text, found, shown);
  };
};

export const redacted = (value: unknown, redact: Redact): unknown =>
  mapTexts(value, redact, (inner) => redacted(inner, redact));

export type RedactedStream = ReturnType<typeof redactedStream>;

/**
 * Holds back the end of a chunk that may be the start of a value. Held text is searched again only
 * after a quarter as much has arrived, so that the cost is not quadratic.
 */
export const redactedStream = (values: string[], onText: (text: string) => void, shown = SHOWN) => {
  const trie = buildTrie(values);
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
    end: (): void => {
      const text = replaced(held, spansIn(held, trie).found, shown);
      held = '';
      looked = 0;
      if (text !== '') onText(text);
    },
  };
};

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

const buildTrie = (values: string[]): Trie => new Trie(values.flatMap(listSecretForms));

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
