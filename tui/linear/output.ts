import { safe } from '../../cli/text.js';

/**
 * What is written stays as it was written: lines below each other, and nothing that moves a
 * cursor, colours or takes back. The bell is the only control character there is.
 */
export interface LinearOutput {
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
  /** Nothing is written any more; the shell's own prompt begins a line of its own. */
  end(): void;
}

const BELL = '\u0007';

type Out = NodeJS.WritableStream & { isTTY?: boolean };

export const openPaper = (out: Out): LinearOutput => {
  let isOver = false;
  const write = (text: string): void => {
    if (!isOver) out.write(text);
  };
  /** What stands at the end, on a line that is not ended. */
  let prompted = '';
  const line = (text: string): void => {
    const before = prompted === '' ? '' : '\n';
    prompted = '';
    write(`${before}${safe(text)}\n`);
  };
  const lines = (texts: readonly string[]): void => {
    for (const text of texts) line(text);
  };
  const prompt = (text: string): void => {
    if (!out.isTTY) return;
    prompted = text;
    write(safe(text));
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
    bell: () => write(BELL),
    end: () => {
      if (prompted !== '') write('\n');
      isOver = true;
    },
  };
};
