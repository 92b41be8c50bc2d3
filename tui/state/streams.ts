/** One thing that happened. */
export interface Entry {
  /** Its number in its stream, rising; null where the stream numbers nothing. */
  number: number | null;
  /** ISO 8601. */
  at: string;
  kind: string;
  data: Readonly<Record<string, unknown>>;
}

/** What was told, the newest last. `gapBefore`: what came before this entry is lost. */
export interface Ring {
  entries: readonly Entry[];
  /** Number of the newest. */
  last: number;
  /** Numbers that the daemon had dropped already, each as [from, to]. */
  gaps: readonly (readonly [number, number])[];
  /** When it was last looked at, in order: the stream that was not for longest goes. */
  usedAt: number;
}
/** By what they follow: `executions`, or the id of an agent. */
export type StreamsState = Readonly<Record<string, Ring>>;

export type StreamAction =
  | { type: 'stream.told'; name: string; entries: Entry[] }
  | { type: 'stream.gap'; name: string; from: number; to: number };

const MOST_ENTRIES = 2000;
const MOST_STREAMS = 5;
const none: Ring = { entries: [], last: 0, gaps: [], usedAt: 0 };

/** An empty stream, where nothing was told yet. */
export const ringOf = (state: StreamsState, name: string): Ring => state[name] ?? none;

export const reduceStreams = (state: StreamsState, action: StreamAction): StreamsState => {
  const ring = ringOf(state, action.name);
  const usedAt = 1 + Math.max(0, ...Object.values(state).map((each) => each.usedAt));
  const next = action.type === 'stream.told' ? told(ring, action.entries) : gapped(ring, action);
  return bounded({ ...state, [action.name]: { ...next, usedAt } });
};

/** What was told twice, by socket and by catching up, counts once. */
const told = (ring: Ring, entries: Entry[]): Ring => {
  const fresh = entries.filter(({ number }) => number === null || number > ring.last);
  if (fresh.length === 0) return ring;
  const last = fresh.reduce((most, { number }) => Math.max(most, number ?? 0), ring.last);
  return { ...ring, entries: [...ring.entries, ...fresh].slice(-MOST_ENTRIES), last };
};

const gapped = (ring: Ring, { from, to }: { from: number; to: number }): Ring =>
  to < from || to <= ring.last
    ? ring
    : { ...ring, gaps: [...ring.gaps, [from, to] as const], last: to };

const bounded = (state: Record<string, Ring>): StreamsState => {
  const all = Object.entries(state).sort(([, a], [, b]) => b.usedAt - a.usedAt);
  return Object.fromEntries(all.slice(0, MOST_STREAMS));
};
