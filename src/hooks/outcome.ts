import { type Clock, iso } from '../kernel/clock.js';
import type { Notice, Outbound } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { ExecutionRow } from '../store/tables/hooks.js';
import type { EndRecord } from './procedures/end.js';
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
  /** The notification that the action sends; `isSent` is false if it stays in the app. */
  notice?: { notice: Notice; isSent: boolean };
}

/** The end of an execution for the database, and what to publish after its commit. */
export interface PreparedEnd {
  end: EndRecord;
  published(): void;
}

const MAX_RESULT_LENGTH = 64 * 1024;

/** Records that the execution begins, before anything outside the database happens. */
export const beginRun = async (
  deps: OutcomeDeps,
  run: HookRun,
  effect: ExecutionRow['effect'],
): Promise<void> => {
  await deps.store.transact([beginStatement(run, { effect })]);
  publishRun(deps, run, { status: 'running' });
};

/**
 * Builds the statement that records that an execution begins, with further values of its row. It
 * throws Unmet if the execution has ended meanwhile.
 */
export const beginStatement = (
  { execution, hook }: HookRun,
  more: Partial<ExecutionRow>,
): Statement => {
  // The action is that of the hook now, whatever it was when the hook fired.
  const values = { ...more, action: hook.action, status: 'running' };
  const columns = Object.keys(values).map((name) => `${name} = ?`);
  return {
    sql: `UPDATE executions SET ${columns.join(', ')}
      WHERE id = ? AND status IN ('queued', 'running')`,
    parameters: [...Object.values(values), execution.id],
    expect: 1,
  };
};

/**
 * Ends the execution, which leaves the queue, and resolves to null, since no job continues in its
 * place. The start time stays as the admission recorded it, or null if the hook's own rules stopped
 * the execution before that. The event for the owner's webhooks and the notifications are committed
 * in the same transaction or not at all. Nothing happens if the execution has ended meanwhile.
 */
export const endRun = async (
  deps: OutcomeDeps,
  run: HookRun,
  outcome: RunOutcome,
): Promise<null> => {
  const { end, published } = endOf(deps, run, outcome);
  if (await deps.store.call('closeExecution', end)) published();
  return null;
};

/** Prepares the end of an execution. After an error its owner is notified too. */
export const endOf = (deps: OutcomeDeps, run: HookRun, outcome: RunOutcome): PreparedEnd => {
  const { clock, outbound } = deps;
  const { execution, hook } = run;
  const { status, result, error = null, notice } = outcome;
  const { user_id: userId } = execution;
  const hops = hopsOf(run);
  const ended = endedRun(run);
  const type = status === 'success' ? 'hook.executed' : 'hook.failed';
  const event = outbound.subscriptions.wants(userId, type) ? hookRan(ended, outcome) : null;
  const { noticeOf } = outbound.outbox;
  const failure =
    status === 'error'
      ? noticeOf(userId, { ...runFailureNotice(ended, error ?? ''), hops }, true)
      : null;
  const own = notice ? noticeOf(userId, notice.notice, notice.isSent) : null;
  return {
    end: {
      execution: {
        id: execution.id,
        status,
        action: hook.action,
        effect: outcome.effect ?? execution.effect,
        result: result === undefined ? null : encode(result),
        error,
        // The start that finds an interrupted execution makes no attempt.
        attempts: execution.attempts - (status === 'interrupted' ? 1 : 0),
        started_at: null,
        finished_at: iso(clock.now()),
      },
      notices: [failure, own].flatMap((each) => (each ? [each.posting] : [])),
      event: event ? outbound.storedEvent(userId, { ...event, hops }) : null,
    },
    published: () => {
      failure?.published();
      publishRun(deps, run, { status, error });
      own?.published();
    },
  };
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
  return text.length <= MAX_RESULT_LENGTH
    ? text
    : JSON.stringify({ truncated: true, text: text.slice(0, MAX_RESULT_LENGTH) });
};
