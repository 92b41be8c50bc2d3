import { safe } from '../../cli/text.js';

/**
 * What is written stays as it was written: lines below each other, and nothing that moves a
 * cursor, colours or takes back. The bell is the only control character there is.
 */
export interface Paper {
  /** One line, or several; text from outside becomes safe. */
  line(text: string): void;
  lines(texts: readonly string[]): void;
  /** Waits on its line for an answer. In a pipe there is none. */
  prompt(text: string): void;
  /** The person has ended the line of the prompt. */
  answered(): void;
  /** What nobody asked for, between the words of the person: the prompt comes again below it. */
  between(texts: readonly string[]): void;
  bell(): void;
}

const BELL = '\u0007';

type Out = NodeJS.WritableStream & { isTTY?: boolean };

export const openPaper = (out: Out): Paper => {
  /** What stands at the end, on a line that is not ended. */
  let prompted = '';
  const line = (text: string): void => {
    const before = prompted === '' ? '' : '\n';
    prompted = '';
    out.write(`${before}${safe(text)}\n`);
  };
  const lines = (texts: readonly string[]): void => {
    for (const text of texts) line(text);
  };
  const prompt = (text: string): void => {
    if (!out.isTTY) return;
    prompted = text;
    out.write(safe(text));
  };
  return {
    line,
    lines,
    prompt,
    answered: () => {
      prompted = '';
    },
    between: (texts) => {
      const waiting = prompted;
      lines(texts);
      if (waiting !== '' && texts.length > 0) prompt(waiting);
    },
    bell: () => void out.write(BELL),
  };
};
