import type { Cancel, Clock } from '../kernel/clock.js';

/** Minimum time between two messages of one text. */
const PACE_MS = 250;
/** Maximum characters per message. Only the newest are sent. */
const LONGEST = 65_536;

interface PacedReceiver {
  clock: Clock;
  /** Number of the newest reader, growing with each new one. 0 without readers. */
  newestReader(): number;
  /** `from` is the offset of the first character in the whole text. */
  send(from: number, text: string): void;
}

/**
 * Sends at most four messages per second, the first immediately. A new reader causes the text to be
 * sent from its beginning, to all. `end` must be called.
 */
export const createPacedText = ({ clock, newestReader, send }: PacedReceiver) => {
  /** The newest part of the text. */
  let text = '';
  /** Length of the whole text. */
  let length = 0;
  /** Offset up to which the text has been sent. */
  let sentTo = 0;
  let isPaced = false;
  let reader = 0;
  let cancel: Cancel = () => undefined;

  const flush = (): boolean => {
    if (reader === 0 || sentTo === length) return false;
    const from = Math.max(sentTo, length - LONGEST);
    send(from, text.slice(from - length));
    sentTo = length;
    return true;
  };
  const beginPace = (): void => {
    const before = reader;
    reader = newestReader();
    if (reader > before) sentTo = 0;
    // After a pause, the next piece is sent immediately.
    isPaced = flush() || reader === 0;
    // A reader that joins during a pause gets the existing text.
    cancel();
    cancel = clock.after(PACE_MS, beginPace, { ref: false });
  };
  return {
    take: (piece: string): void => {
      text += piece;
      length += piece.length;
      if (text.length > 2 * LONGEST) text = text.slice(-LONGEST);
      if (!isPaced) beginPace();
    },
    /** The next piece starts a new text. */
    restart: (): void => {
      text = '';
      length = 0;
      sentTo = 0;
    },
    /** Sends the rest. */
    end: (): void => {
      cancel();
      flush();
    },
  };
};
