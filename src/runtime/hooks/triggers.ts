import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { HookRow } from '../../store/tables/hooks.js';
import type { AgentOutcome, Consequence } from '../agents/ending.js';
import type { Queue } from '../jobs/queue.js';
import { EXECUTION_JOB } from './execute.js';
import type { TriggerEvent } from './run.js';

export interface TriggerDeps {
  store: Store;
  clock: Clock;
  queue: Queue;
}

/**
 * The execution of a hook that something else than a delivery fires, with its job. They come about
 * only while the hook is there and enabled: these statements are parts of others' transactions,
 * which a hook that was just deleted must not break.
 */
export const fireStatements = (
  { store: { db }, clock }: TriggerDeps,
  hookId: string,
  event: TriggerEvent,
): { executionId: string; statements: Statement[] } => {
  const now = clock.now();
  const id = mint('execution', now);
  const context = JSON.stringify(event);
  const execution = db
    .insertInto('executions')
    .columns(['id', 'hook_id', 'user_id', 'trigger', 'action', 'context', 'status', 'created_at'])
    .expression(
      db
        .selectFrom('hooks')
        .select((of) => [
          of.val(id).as('new_id'),
          'id',
          'user_id',
          'trigger',
          'action',
          of.val(context).as('context'),
          of.val('queued').as('status'),
          of.val(iso(now)).as('at'),
        ])
        .where('id', '=', hookId)
        .where('enabled', '=', 1),
    );
  const fired = db.selectFrom('executions').where('id', '=', id);
  const job = db
    .insertInto('jobs')
    .columns(['kind', 'ref', 'lane', 'run_at'])
    .expression(
      fired.select((of) => [of.val(EXECUTION_JOB).as('kind'), 'id', 'hook_id', 'created_at']),
    );
  const counted = db
    .updateTable('hooks')
    .set((of) => ({ executions: of('executions', '+', 1) }))
    .where('id', 'in', fired.select('hook_id'));
  return { executionId: id, statements: [execution, counted, job].map((each) => statement(each)) };
};

const TRIGGERS = { completed: 'agent_completed', failed: 'agent_failed' } as const;

/**
 * The owner's hooks that fire when an agent ends. An agent that such a hook spawned itself fires
 * none, or two hooks could keep each other busy for ever.
 */
export const agentEndTriggers =
  (deps: TriggerDeps) =>
  async (agent: AgentRow, outcome: AgentOutcome): Promise<Consequence> => {
    const hookIds = await hooksFor(deps.store, agent, TRIGGERS[outcome.status]);
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
      statements: hookIds.flatMap((id) => fireStatements(deps, id, event).statements),
      committed: () => {
        for (const id of hookIds) deps.queue.added(id);
      },
    };
  };

const hooksFor = async (
  { db }: Store,
  agent: AgentRow,
  trigger: HookRow['trigger'],
): Promise<string[]> => {
  if (agent.hook_id !== null && (await firesOnAgents(db, agent.hook_id))) return [];
  const hooks = await db
    .selectFrom('hooks')
    .select('id')
    .where('user_id', '=', agent.user_id)
    .where('trigger', '=', trigger)
    .where('enabled', '=', 1)
    .execute();
  return hooks.map(({ id }) => id);
};

const firesOnAgents = async (db: Store['db'], hookId: string): Promise<boolean> => {
  const hook = await db
    .selectFrom('hooks')
    .select('trigger')
    .where('id', '=', hookId)
    .executeTakeFirst();
  return hook?.trigger === 'agent_completed' || hook?.trigger === 'agent_failed';
};
