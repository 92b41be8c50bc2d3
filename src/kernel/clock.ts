/** The one place where time comes from; tests freeze it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601, UTC, milliseconds: the only spelling of a time on the wire and in the database. */
export const iso = (ms: number): string => new Date(ms).toISOString();
