/** Ours: the time between two sendings of one text. */
const PACE_MS = 250;
/** Ours: the most characters of one sending; of more, the newest are sent. */
const LONGEST = 65_536;

/** The receiver of a paced text. */
interface PacedReceiver {
  /** Returns true if somebody wants the text. It is asked at most once in each pace. */
  isWanted(): boolean;
  /** `from` is the place of the first character in the whole text. */
  send(from: number, text: string): void;
}

/**
 * Creates what joins the pieces of a text, so that they are sent at most four times a second. The
 * first one goes at once. Nothing is sent while nobody wants the text; the first who does gets it
 * from its beginning.
 */
export const createPacedText = ({ isWanted, send }: PacedReceiver) => {
  /** The newest part of the text. */
  let text = '';
  /** The length of the whole text. */
  let length = 0;
  /** The place up to which it was sent. */
  let sentTo = 0;
  let paceEndsAt = Number.NEGATIVE_INFINITY;
  let isHeard = false;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!isHeard || sentTo === length) return;
    const from = Math.max(sentTo, length - LONGEST);
    send(from, text.slice(from - length));
    sentTo = length;
  };
  const beginPace = (): void => {
    const wasHeard = isHeard;
    isHeard = isWanted();
    if (!wasHeard) sentTo = 0;
    paceEndsAt = performance.now() + PACE_MS;
    flush();
  };
  return {
    take: (piece: string): void => {
      text += piece;
      length += piece.length;
      if (text.length > 2 * LONGEST) text = text.slice(-LONGEST);
      const leftMs = paceEndsAt - performance.now();
      if (leftMs <= 0) beginPace();
      else if (isHeard) timer ??= setTimeout(beginPace, leftMs).unref();
    },
    /** Sends what was not sent yet. */
    end: flush,
  };
};
