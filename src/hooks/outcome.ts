import { type Clock, iso } from '../kernel/clock.js';
import type { Notice, Outbound } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { ExecutionRow } from '../store/tables/hooks.js';
import type { EndRecord } from './procedures/end.js';
import { countRunHops, type HookRun, runEvent } from './run.js';
import { endedRun, hookExecutedEvent, runFailureNotice } from './runevent.js';

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
  /** `isSent` is false if the notification stays in the app. */
  notice?: { notice: Notice; isSent: boolean };
}

export interface PreparedEnd {
  end: EndRecord;
  published(): void;
}

const MAX_RESULT_LENGTH = 64 * 1024;

export const beginRun = async (
  deps: OutcomeDeps,
  run: HookRun,
  effect: ExecutionRow['effect'],
): Promise<void> => {
  await deps.store.transact([beginStatement(run, { effect })]);
  publishRun(deps, run, { status: 'running' });
};

/** The statement throws Unmet if the execution has ended in the meantime. */
export const beginStatement = (
  { execution, hook }: HookRun,
  more: Partial<ExecutionRow>,
): Statement => {
  // The action of the hook now. It may have changed since the hook fired.
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
 * Removes the execution from the queue and resolves to null, because no job continues. The outgoing
 * event and the notifications are committed in the same transaction. Does nothing if the execution
 * has already ended.
 */
export const endRun = async (
  deps: OutcomeDeps,
  run: HookRun,
  outcome: RunOutcome,
): Promise<null> => {
  const { end, published } = prepareRunEnd(deps, run, outcome);
  if (await deps.store.call('closeExecution', end)) published();
  return null;
};

export const prepareRunEnd = (
  deps: OutcomeDeps,
  run: HookRun,
  outcome: RunOutcome,
): PreparedEnd => {
  const { clock, outbound } = deps;
  const { execution, hook } = run;
  const { status, result, error = null, notice } = outcome;
  const { user_id: userId } = execution;
  const hops = countRunHops(run);
  const ended = endedRun(run);
  const type = status === 'success' ? 'hook.executed' : 'hook.failed';
  const event = outbound.subscriptions.wants(userId, type)
    ? hookExecutedEvent(ended, outcome)
    : null;
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
        // The start that finds an interrupted execution is not an attempt.
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
