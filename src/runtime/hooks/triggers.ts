import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { AgentRow, HookRow } from '../../store/tables.js';
import type { AgentOutcome, Consequence } from '../agents/ending.js';
import type { Queue } from '../jobs/queue.js';
import { addJob } from '../jobs/statements.js';
import { EXECUTION_JOB } from './execute.js';
import type { TriggerEvent } from './run.js';

export interface TriggerDeps {
  store: Store;
  clock: Clock;
  queue: Queue;
}

/** The execution of a hook that something else than a delivery fires, with its job. */
export const fireStatements = (
  { store, clock }: TriggerDeps,
  hook: Pick<HookRow, 'id' | 'user_id' | 'trigger' | 'action'>,
  event: TriggerEvent,
): Statement[] => {
  const now = clock.now();
  const id = mint('execution', now);
  const at = iso(now);
  return [
    statement(
      store.db.insertInto('executions').values({
        id,
        hook_id: hook.id,
        user_id: hook.user_id,
        delivery_id: null,
        trigger: hook.trigger,
        action: hook.action,
        context: JSON.stringify(event),
        status: 'queued',
        result: null,
        error: null,
        agent_id: null,
        replay_of: null,
        created_at: at,
        started_at: null,
        finished_at: null,
      }),
      1,
    ),
    statement(
      store.db
        .updateTable('hooks')
        .set((of) => ({ executions: of('executions', '+', 1) }))
        .where('id', '=', hook.id),
    ),
    addJob(store, { kind: EXECUTION_JOB, ref: id, lane: hook.id, runAt: at }),
  ];
};

const TRIGGERS = { completed: 'agent_completed', failed: 'agent_failed' } as const;

/**
 * The owner's hooks that fire when an agent ends. An agent that such a hook spawned itself fires
 * none, or two hooks could keep each other busy for ever.
 */
export const agentEndTriggers =
  (deps: TriggerDeps) =>
  async (agent: AgentRow, outcome: AgentOutcome): Promise<Consequence> => {
    const hooks = await hooksFor(deps.store, agent, TRIGGERS[outcome.status]);
    const event: TriggerEvent = {
      event: `agent.${outcome.status}`,
      agent: {
        id: agent.id,
        name: agent.name,
        result: outcome.status === 'completed' ? outcome.result : null,
        error: outcome.status === 'failed' ? outcome.error : null,
      },
    };
    return {
      statements: hooks.flatMap((hook) => fireStatements(deps, hook, event)),
      committed: () => {
        for (const { id } of hooks) deps.queue.added(id);
      },
    };
  };

const hooksFor = async ({ db }: Store, agent: AgentRow, trigger: HookRow['trigger']) => {
  const hooks = await db
    .selectFrom('hooks')
    .select(['id', 'user_id', 'trigger', 'action'])
    .where('user_id', '=', agent.user_id)
    .where('trigger', '=', trigger)
    .where('enabled', '=', 1)
    .execute();
  const spawner = agent.hook_id === null ? null : await triggerOf(db, agent.hook_id);
  if (spawner === 'agent_completed' || spawner === 'agent_failed') return [];
  return hooks;
};

const triggerOf = async (db: Store['db'], hookId: string): Promise<HookRow['trigger'] | null> => {
  const hook = await db
    .selectFrom('hooks')
    .select('trigger')
    .where('id', '=', hookId)
    .executeTakeFirst();
  return hook?.trigger ?? null;
};
