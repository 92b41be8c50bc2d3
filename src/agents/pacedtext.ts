/** Ours: the time between two sendings of one text. */
const PACE_MS = 250;
/** Ours: the most characters of one sending; of more, the newest are sent. */
const LONGEST = 65_536;

/** The receiver of a paced text. */
interface PacedReceiver {
  /** Returns true if somebody wants the text. It is asked once in each pace. */
  isWanted(): boolean;
  /** `from` is the place of the first character in the whole text. */
  send(from: number, text: string): void;
}

/**
 * Creates what joins the pieces of a text, so that they are sent at most four times a second. The
 * first one goes at once. While nobody wants the text, its length is counted and nothing is kept.
 */
export const createPacedText = ({ isWanted, send }: PacedReceiver) => {
  /** The place of the first character that waits. */
  let from = 0;
  let waiting = '';
  let paceEndsAt = Number.NEGATIVE_INFINITY;
  let isHeard = false;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    const left = Math.max(0, text.length - LONGEST);
    waiting = '';
    if (text !== '' && isHeard) send(from + left, text.slice(left));
    from += text.length;
  };
  const beginPace = (now: number): void => {
    paceEndsAt = now + PACE_MS;
    isHeard = isWanted();
    flush();
  };
  return {
    take: (text: string): void => {
      const now = performance.now();
      waiting += text;
      if (now >= paceEndsAt) beginPace(now);
      else if (!isHeard) flush();
      else timer ??= setTimeout(() => beginPace(performance.now()), paceEndsAt - now).unref();
    },
    /** Sends what waits. */
    end: flush,
  };
};
