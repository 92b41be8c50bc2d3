export interface StreamEntry {
  /** Rising number in its stream. `null` if the stream has no numbers. */
  number: number | null;
  at: string;
  kind: string;
  data: Readonly<Record<string, unknown>>;
}

/** The latest entries of one stream, newest last. */
export interface Ring {
  entries: readonly StreamEntry[];
  /** Number of the newest entry. */
  last: number;
  /** Ranges [from, to] of events that the daemon had already dropped. */
  gaps: readonly (readonly [number, number])[];
  /** Rising counter of changes. The least recently changed stream is dropped first. */
  usedAt: number;
}

/** Streams by name: `executions`, or the id of an agent. */
export type StreamsState = Readonly<Record<string, Ring>>;

export type StreamAction =
  | { type: 'stream.added'; name: string; entries: StreamEntry[] }
  | { type: 'stream.gap'; name: string; from: number; to: number };

/**
 * Joins two actions with entries of the same stream, because each action copies the whole ring.
 * `null` for other actions.
 */
export const joinStreams = (
  first: { type: string },
  next: { type: string },
): StreamAction | null =>
  isAdded(first) && isAdded(next) && first.name === next.name
    ? { ...first, entries: [...first.entries, ...next.entries] }
    : null;

const MAX_ENTRIES = 2000;
const MAX_STREAMS = 5;
const none: Ring = { entries: [], last: 0, gaps: [], usedAt: 0 };

export const getStreamRing = (state: StreamsState, name: string): Ring => state[name] ?? none;

type StreamEvent = Extract<StreamAction, { type: 'stream.added' }>;
const isAdded = (action: { type: string }): action is StreamEvent => action.type === 'stream.added';

export const reduceStreams = (state: StreamsState, action: StreamAction): StreamsState => {
  const ring = getStreamRing(state, action.name);
  const usedAt = 1 + Math.max(0, ...Object.values(state).map((each) => each.usedAt));
  const next = action.type === 'stream.added' ? added(ring, action.entries) : gapped(ring, action);
  return bounded({ ...state, [action.name]: { ...next, usedAt } });
};

/** An entry that arrives twice, by the socket and by loading, is added once. */
const added = (ring: Ring, entries: StreamEntry[]): Ring => {
  let { last } = ring;
  const fresh = entries.filter(({ number }) => {
    if (number === null) return true;
    if (number <= last) return false;
    last = number;
    return true;
  });
  if (fresh.length === 0) return ring;
  return { ...ring, entries: ordered(ring.entries, fresh).slice(-MAX_ENTRIES), last };
};

/**
 * Sorts entries without numbers by time, because a loaded one may be older than one from the
 * socket.
 */
const ordered = (before: readonly StreamEntry[], fresh: readonly StreamEntry[]): StreamEntry[] => {
  const all = [...before, ...fresh];
  const isLate = fresh.some(
    ({ number, at }, index) => number === null && at < (all[before.length + index - 1]?.at ?? ''),
  );
  return isLate ? all.sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)) : all;
};

const gapped = (ring: Ring, { from, to }: { from: number; to: number }): Ring =>
  to < from || to <= ring.last
    ? ring
    : { ...ring, gaps: [...ring.gaps, [from, to] as const], last: to };

const bounded = (state: Record<string, Ring>): StreamsState => {
  const all = Object.entries(state).sort(([, a], [, b]) => b.usedAt - a.usedAt);
  return Object.fromEntries(all.slice(0, MAX_STREAMS));
};

export const EXECUTIONS = 'executions';
