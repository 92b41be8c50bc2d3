const SHOWN = '[hidden]';
/** Ours: what is shorter stands in most texts by chance. */
const SHORTEST = 8;

type OnText = (piece: string) => void;

/** An endpoint may answer with what it was shown. */
export const withoutKey = (text: string, key: string | undefined): string =>
  key === undefined || key.length < SHORTEST ? text : text.replaceAll(key, SHOWN);

/**
 * Hands pieces of a text on without the key. The end of a piece that may be the beginning of it is
 * held back until the next piece, or `end`, shows whether it is.
 */
export const hiding = (key: string | undefined, onText: OnText) => {
  if (key === undefined || key.length < SHORTEST) return { take: onText, end: () => undefined };
  let held = '';
  return {
    take: (piece: string): void => {
      const text = withoutKey(held + piece, key);
      const open = beginningAtEnd(text, key);
      held = text.slice(text.length - open);
      if (open < text.length) onText(text.slice(0, text.length - open));
    },
    end: (): void => {
      if (held !== '') onText(held);
    },
  };
};

const beginningAtEnd = (text: string, key: string): number => {
  let length = Math.min(key.length - 1, text.length);
  while (length > 0 && !text.endsWith(key.slice(0, length))) length--;
  return length;
};
