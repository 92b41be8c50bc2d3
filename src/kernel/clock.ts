/** The one place where time comes from; tests freeze it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601, UTC, milliseconds: the only spelling of a time on the wire and in the database. */
export const iso = (ms: number): string => {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
};

/** Many things happen in one millisecond, and half a microsecond is much on the hot path. */
let last = { ms: Number.NaN, text: '' };
