/** Ours: the time between two sendings of one text. */
const PACE_MS = 250;
/** Ours: the most characters of one sending; of more, the newest are sent. */
const LONGEST = 65_536;

/** The receiver of a paced text. */
interface PacedReceiver {
  /**
   * Returns the number of the newest reader, which grows with each that comes; 0 while nobody reads.
   * It is asked once in each pace, and before a piece that comes after a pause.
   */
  newestReader(): number;
  /** `from` is the place of the first character in the whole text. */
  send(from: number, text: string): void;
}

/**
 * Creates what joins the pieces of a text, so that they are sent at most four times a second. The
 * first one goes at once. Nothing is sent while nobody reads. Once a reader has come the text is sent
 * from its beginning, to all, also while nothing is added to it. `end` has to be called.
 */
export const createPacedText = ({ newestReader, send }: PacedReceiver) => {
  /** The newest part of the text. */
  let text = '';
  /** The length of the whole text. */
  let length = 0;
  /** The place up to which it was sent. */
  let sentTo = 0;
  let paceEndsAt = Number.NEGATIVE_INFINITY;
  let reader = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Returns true if there was something to send. */
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
    // After a pause the next piece goes at once.
    const isIdle = !flush() && reader > 0;
    paceEndsAt = isIdle ? Number.NEGATIVE_INFINITY : performance.now() + PACE_MS;
    // Who comes while nothing is written gets what there is.
    clearTimeout(timer);
    timer = setTimeout(beginPace, PACE_MS).unref();
  };
  return {
    take: (piece: string): void => {
      text += piece;
      length += piece.length;
      if (text.length > 2 * LONGEST) text = text.slice(-LONGEST);
      if (performance.now() >= paceEndsAt) beginPace();
    },
    /** Forgets the text, so that the next piece is sent as its beginning. */
    restart: (): void => {
      text = '';
      length = 0;
      sentTo = 0;
    },
    /** Sends what was not sent yet. Nothing is taken after it. */
    end: (): void => {
      clearTimeout(timer);
      flush();
    },
  };
};
