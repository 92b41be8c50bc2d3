import { systemClock } from '../kernel/clock.js';
import { ExpectationFailed, type TransactionStep } from '../store/engine/protocol.js';
import type { OperationProgress } from '../store/tables/operations.js';
import type { OperationEnd, OperationRun } from './kind.js';

/** One item: the steps to do, or the reason why it is skipped. */
interface WalkItem {
  id: string;
  todo: { steps: TransactionStep[] } | { skip: string };
}

/** Walks through the items of several lanes, oldest first in each. */
export interface LaneWalk {
  lanes: string[];
  /** Number of jobs that wait in a lane of the queue. */
  waiting(lane: string): number;
  /** Reads at most `limit` items of the lane after the given ID. */
  next(lane: string, after: string, limit: number): Promise<WalkItem[]>;
  /** Called after the steps of `count` items were committed. */
  added(lane: string, count: number): void;
  unit: string;
  /** Past participle for completed items, such as `replayed`. */
  verb: string;
  /** Number of items to do, without skipped ones. */
  total: number;
}

/** The last item of each lane, and the counts so far. */
export interface WalkCheckpoint {
  after: Record<string, string>;
  done: number;
  skipped: Record<string, number>;
}

/**
 * Maximum number of jobs that wait in a lane when the walk adds to it, so that new jobs wait behind
 * these and not behind the whole walk.
 */
const MAX_WAITING = 16;
/** The pause if all lanes are full. */
const PAUSE_MS = 50;

/**
 * Lanes advance side by side, so that a slow one does not delay the others. Steps and checkpoint are
 * written together, so that each item is done once, even if the daemon is killed.
 */
export const walkLanes = async (
  walk: LaneWalk,
  run: OperationRun<unknown, WalkCheckpoint>,
): Promise<OperationEnd> => {
  let at: WalkCheckpoint = run.checkpoint ?? { after: {}, done: 0, skipped: {} };
  const left = new Set(walk.lanes);
  while (left.size > 0) {
    let isFull = true;
    for (const lane of left) {
      run.signal.throwIfAborted();
      const room = MAX_WAITING - walk.waiting(lane);
      if (room <= 0) continue;
      isFull = false;
      const items = await walk.next(lane, at.after[lane] ?? '', room);
      if (items.length === 0) left.delete(lane);
      else at = await take(walk, run, { lane, items, at });
    }
    if (isFull) await systemClock.wait(PAUSE_MS, run.signal);
  }
  const { done, skipped } = at;
  const result = { [walk.verb]: done, skipped: skippedIn(at), reasons: skipped };
  return { status: 'completed', result };
};

/** If an item has changed meanwhile, nothing is committed. */
const take = async (
  walk: LaneWalk,
  run: OperationRun<unknown, WalkCheckpoint>,
  { lane, items, at }: { lane: string; items: WalkItem[]; at: WalkCheckpoint },
): Promise<WalkCheckpoint> => {
  const steps = items.flatMap(({ todo }) => ('steps' in todo ? todo.steps : []));
  const doing = items.filter(({ todo }) => 'steps' in todo).length;
  const after = { ...at.after, [lane]: items.at(-1)?.id ?? '' };
  const checkpoint = { after, done: at.done + doing, skipped: { ...at.skipped } };
  for (const { todo } of items) {
    if ('skip' in todo) checkpoint.skipped[todo.skip] = (checkpoint.skipped[todo.skip] ?? 0) + 1;
  }
  try {
    await run.commit(steps, { checkpoint, progress: buildProgress(walk, checkpoint) });
  } catch (error) {
    if (error instanceof ExpectationFailed) return at;
    throw error;
  }
  if (doing > 0) walk.added(lane, doing);
  return checkpoint;
};

const skippedIn = ({ skipped }: WalkCheckpoint): number =>
  Object.values(skipped).reduce((sum, count) => sum + count, 0);

const buildProgress = ({ unit, total, verb }: LaneWalk, at: WalkCheckpoint): OperationProgress => {
  const skipped = skippedIn(at);
  return {
    done: at.done,
    total: Math.max(total, at.done),
    unit,
    note: `${at.done} ${verb}${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  };
};
