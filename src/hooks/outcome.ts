import { type Job, removeJob } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import type { Outbound, QueuedMessage } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ExecutionRow } from '../store/tables/hooks.js';
import { type HookRun, hopsOf, runEvent } from './run.js';
import { endedRun, hookRan, runFailureNotice } from './runevent.js';

export interface OutcomeDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  outbound: Outbound;
}

export interface RunOutcome {
  status: 'success' | 'error' | 'skipped' | 'interrupted';
  result?: unknown;
  error?: string;
  effect?: ExecutionRow['effect'];
  /** Statements that are committed together with the outcome. */
  statements?: Statement[];
}

const LONGEST_RESULT = 64 * 1024;

/** Records that the execution begins, before anything outside the database happens. */
export const beginRun = async (
  deps: OutcomeDeps,
  run: HookRun,
  job: Job,
  effect: ExecutionRow['effect'],
): Promise<void> => {
  await deps.store.transact(beginStatements(deps, run, job, { effect }));
  publishRun(deps, run, { status: 'running' });
};

export const beginStatements = (
  { store }: OutcomeDeps,
  { execution, hook }: HookRun,
  job: Job,
  more: Partial<ExecutionRow>,
): Statement[] => [
  statement(
    store.db
      .updateTable('executions')
      .set({
        ...more,
        // The action is that of the hook now, whatever it was when the hook fired.
        action: hook.action,
        status: 'running',
        attempts: job.attempts,
      })
      .where('id', '=', execution.id),
    1,
  ),
];

/**
 * Ends the execution and its job, and resolves to null, since no job continues in their place. The start time stays as the admission recorded it, or null if the
 * hook's own rules stopped the execution before that. The statements, the events for the owner's
 * webhooks and, after an error, the notification to the owner are committed in the same transaction
 * or not at all.
 */
export const endRun = async (
  deps: OutcomeDeps,
  run: HookRun,
  job: Job,
  outcome: RunOutcome,
): Promise<null> => {
  const { store, clock } = deps;
  const at = iso(clock.now());
  const ended = store.db
    .updateTable('executions')
    .set({
      status: outcome.status,
      effect: outcome.effect ?? run.execution.effect,
      result: outcome.result === undefined ? null : encode(outcome.result),
      error: outcome.error ?? null,
      attempts: job.attempts,
      finished_at: at,
    })
    .where('id', '=', run.execution.id)
    .where('status', 'in', ['queued', 'running']);
  const postings = postingsOf(deps, run, outcome);
  await store.transact([
    statement(ended, 1),
    removeJob(store, job.id),
    ...(outcome.statements ?? []),
    ...postings.flatMap(({ statements }) => statements),
  ]);
  for (const { published } of postings) published();
  publishRun(deps, run, { status: outcome.status, error: outcome.error ?? null });
  return null;
};

const postingsOf = (deps: OutcomeDeps, run: HookRun, outcome: RunOutcome): QueuedMessage[] => {
  const { user_id: userId } = run.execution;
  const ended = endedRun(run);
  const event = hookRan(ended, outcome);
  const hops = hopsOf(run);
  const postings = event ? [deps.outbound.toWebhooks(userId, { ...event, hops })] : [];
  if (outcome.status === 'error') {
    const failure = runFailureNotice(ended, outcome.error ?? '');
    postings.push(deps.outbound.outbox.toOwner(userId, { ...failure, hops }));
  }
  return postings;
};

/** Publishes a change of an execution to the owner's live subscribers. */
export const publishRun = (
  { hub, clock }: OutcomeDeps,
  run: HookRun,
  change: { status: ExecutionRow['status']; error?: string | null; agentId?: string },
): void =>
  hub.publish(run.execution.user_id, 'hook.execution', {
    id: run.execution.id,
    hookId: run.hook.id,
    hookName: run.hook.name,
    event: runEvent(run),
    action: run.hook.action,
    agentId: run.execution.agent_id,
    error: null,
    ...change,
    at: iso(clock.now()),
  });

const encode = (result: unknown): string => {
  const text = JSON.stringify(result) ?? 'null';
  return text.length <= LONGEST_RESULT
    ? text
    : JSON.stringify({ truncated: true, text: text.slice(0, LONGEST_RESULT) });
};
