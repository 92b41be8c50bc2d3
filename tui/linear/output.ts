import { safe } from '../../cli/text.js';

const BELL = '\u0007';

type Out = NodeJS.WritableStream & { isTTY?: boolean };

/**
 * Output of plain lines. A written line is final: the lines are below each other, and nothing moves
 * the cursor, sets a colour or deletes. The bell is the only control character.
 */
export type LinearOutput = ReturnType<typeof openOutput>;

export const openOutput = (out: Out) => {
  let isOver = false;
  const write = (text: string): void => {
    if (!isOver) out.write(text);
  };
  /** The prompt on the last line, which is not ended; empty if there is none. */
  let prompted = '';
  /** Writes one line; `lines` writes several. Text from outside is made safe. */
  const line = (text: string): void => {
    const before = prompted === '' ? '' : '\n';
    prompted = '';
    write(`${before}${safe(text)}\n`);
  };
  const lines = (texts: readonly string[]): void => {
    for (const text of texts) line(text);
  };
  /** Writes a prompt, behind which the user types. In a pipe it writes nothing. */
  const prompt = (text: string): void => {
    if (!out.isTTY) return;
    prompted = text;
    write(safe(text));
  };
  return {
    line,
    lines,
    prompt,
    /** Notes that the user has ended the line of the prompt. */
    answered: (): void => {
      prompted = '';
    },
    /** Writes news between the inputs of the user, then the prompt again below it. */
    between: (texts: readonly string[]): void => {
      const waiting = prompted;
      lines(texts);
      if (waiting !== '' && texts.length > 0) prompt(waiting);
    },
    bell: () => write(BELL),
    /**
     * Ends the output, so that nothing more is written. The prompt of the shell then begins on a
     * line of its own.
     */
    end: (): void => {
      if (prompted !== '') write('\n');
      isOver = true;
    },
  };
};
