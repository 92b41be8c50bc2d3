import { safe } from '../../cli/text.js';

const BELL = '\u0007';

type Out = NodeJS.WritableStream & { isTTY?: boolean };

/**
 * Writes plain lines only: nothing moves the cursor, sets a colour or deletes. The bell is the only
 * control character.
 */
export type LinearOutput = ReturnType<typeof openOutput>;

export const openOutput = (out: Out) => {
  let isOver = false;
  const write = (text: string): void => {
    if (!isOver) out.write(text);
  };
  /** Prompt on the last, unfinished line. Empty if there is none. */
  let prompted = '';
  /** Untrusted text is made safe. */
  const line = (text: string): void => {
    const before = prompted === '' ? '' : '\n';
    prompted = '';
    write(`${before}${safe(text)}\n`);
  };
  const lines = (texts: readonly string[]): void => {
    for (const text of texts) line(text);
  };
  /** Writes nothing in a pipe. */
  const prompt = (text: string): void => {
    if (!out.isTTY) return;
    prompted = text;
    write(safe(text));
  };
  return {
    line,
    lines,
    prompt,
    /** The user has ended the prompt line. */
    answered: (): void => {
      prompted = '';
    },
    /** Writes news between inputs, then the prompt again. */
    between: (texts: readonly string[]): void => {
      const waiting = prompted;
      lines(texts);
      if (waiting !== '' && texts.length > 0) prompt(waiting);
    },
    bell: () => write(BELL),
    /** Ends the output, so that the shell prompt starts on a line of its own. */
    end: (): void => {
      if (prompted !== '') write('\n');
      isOver = true;
    },
  };
};
