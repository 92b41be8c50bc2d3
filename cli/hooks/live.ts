import type { Client, Execution } from '../../src/client/index.js';
import { live } from '../../src/client/socket.js';
import { now } from '../clock.js';
import type { Context } from '../context.js';

/** A change of a run, as `/ws` tells it and as polling shows it. */
export interface ExecutionChange {
  id: string;
  hookId: string;
  status: Execution['status'];
  event: string | null;
  agentId: string | null;
  error: string | null;
  at: string;
}

/** News of the executions that are followed. */
export type RunNote =
  /** From now on nothing is missed. */
  | { type: 'listening' }
  | { type: 'change'; change: ExecutionChange }
  | { type: 'lost'; reason: string }
  | { type: 'back'; caughtUp: number };

const KEPT = 5000;

/** Smaller than every id of a run. */
export const BEFORE_ALL = 'execution_00000000000000000000000000';

/**
 * Every change of the runs that begin after that one: live, and polled where the connection was
 * lost. The API numbers runs by their id, so that none is missed and none told twice.
 */
export async function* followRuns(
  context: Context,
  client: Client,
  newest: string,
): AsyncGenerator<RunNote, void, undefined> {
  const { url, token, signal } = context;
  const known = new Map<string, ExecutionChange>();
  let last = newest;
  let state: 'begins' | 'lost' | 'listens' = 'begins';
  const fresh = (change: ExecutionChange): boolean => {
    const before = known.get(change.id);
    // What was polled may be ahead of the frames that were held meanwhile.
    const isOld = before && (isExecutionOver(before) || before.status === change.status);
    if (change.id <= newest || isOld) return false;
    known.set(change.id, change);
    if (known.size > KEPT) known.delete(known.keys().next().value ?? '');
    if (change.id > last) last = change.id;
    return true;
  };
  for await (const note of live({ url, token, signal, now, channels: ['hook.execution'] })) {
    if (note.type === 'lost') {
      state = 'lost';
      yield note;
    } else if (note.type === 'event') {
      if (isChange(note.data) && fresh(note.data)) yield { type: 'change', change: note.data };
    } else {
      const missed = (await missedBy(client, last, [...known.values()])).filter(fresh);
      if (state === 'begins') yield { type: 'listening' };
      if (state === 'lost') yield { type: 'back', caughtUp: missed.length };
      state = 'listens';
      for (const change of missed) yield { type: 'change', change };
    }
  }
}

/** Runs that began since, and what has become of those that were under way. */
const missedBy = async (
  client: Client,
  last: string,
  known: ExecutionChange[],
): Promise<ExecutionChange[]> => {
  const open = known.filter((change) => !isExecutionOver(change));
  const again = await Promise.all(
    open.map(({ hookId, id }) => client.hooks.execution({ id: hookId, executionId: id })),
  );
  const begun: Execution[] = [];
  for (let after: string | null = last; after !== null; ) {
    const page = await client.hooks.listen({ query: { after, limit: 200 } });
    begun.push(...page.executions);
    after = page.executions.length === 200 ? page.lastId : null;
  }
  return [...again, ...begun].map(changeOf);
};

/** True when the execution has ended. */
export const isExecutionOver = ({ status }: Pick<ExecutionChange, 'status'>): boolean =>
  status !== 'queued' && status !== 'running';

const changeOf = (run: Execution): ExecutionChange => ({
  id: run.id,
  hookId: run.hookId,
  status: run.status,
  event: run.triggerContext.event,
  agentId: run.agentId,
  error: run.error,
  at: run.finishedAt ?? run.startedAt ?? run.createdAt,
});

const isChange = (data: unknown): data is ExecutionChange =>
  typeof data === 'object' && data !== null && 'hookId' in data && 'status' in data;
