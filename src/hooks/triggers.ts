import { type AgentOutcome, appendNote, type FollowUp } from '../agents/module.js';
import type { Approval } from '../approvals/module.js';
import type { Queue } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { TriggerEvent } from './run.js';

export interface TriggerDeps {
  store: Store;
  clock: Clock;
  queue: Queue;
}

const FIRED = [
  'id',
  'hook_id',
  'user_id',
  'trigger',
  'action',
  'context',
  'hops',
  'status',
  'created_at',
  'run_at',
] as const;

/**
 * Inserts only if the hook exists and is enabled, because the statements belong to other
 * transactions, which a deleted hook must not break.
 */
export const fireStatements = (
  { store: { db }, clock }: TriggerDeps,
  hookId: string,
  event: TriggerEvent,
  hops = 0,
): { executionId: string; statements: Statement[] } => {
  const now = clock.now();
  const id = mint('execution', now);
  const context = JSON.stringify(event);
  const execution = db
    .insertInto('executions')
    .columns(FIRED)
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
          of.val(hops).as('hops'),
          of.val('queued').as('status'),
          of.val(iso(now)).as('at'),
          of.val(iso(now)).as('run_at'),
        ])
        .where('id', '=', hookId)
        .where('enabled', '=', 1),
    );
  const fired = db.selectFrom('executions').where('id', '=', id);
  const counted = db
    .updateTable('hooks')
    .set((of) => ({ executions: of('executions', '+', 1) }))
    .where('id', 'in', fired.select('hook_id'));
  return { executionId: id, statements: [execution, counted].map((each) => statement(each)) };
};

const TRIGGERS = { completed: 'agent_completed', failed: 'agent_failed' } as const;

/**
 * Agents spawned by such a hook fire none, to prevent loops. Sub-agents fire none, because their
 * end concerns the parent.
 */
export const agentEndTriggers =
  (deps: TriggerDeps) =>
  async (agent: AgentRow, outcome: AgentOutcome): Promise<FollowUp> => {
    const trigger = TRIGGERS[outcome.status];
    const hookIds = agent.parent_id === null ? await hooksFor(deps.store, agent, trigger) : [];
    const event: TriggerEvent = {
      event: `agent.${outcome.status}`,
      agent: {
        id: agent.id,
        name: agent.name,
        result: outcome.status === 'completed' ? appendNote(outcome) : null,
        error: outcome.status === 'failed' ? outcome.error : null,
      },
    };
    return firing(deps, agent, { hookIds, events: [event] });
  };

/** Agents spawned by such a hook fire none, to prevent loops. */
export const approvalTriggers =
  (deps: TriggerDeps) =>
  async (agent: AgentRow, approvals: Approval[]): Promise<FollowUp> => {
    const hookIds = await hooksFor(deps.store, agent, 'approval_requested');
    const events = approvals.map((approval) => ({
      event: 'approval.requested',
      agent: { id: agent.id, name: agent.name, result: null, error: null },
      approval,
    }));
    return firing(deps, agent, { hookIds, events });
  };

const firing = (
  deps: TriggerDeps,
  { hops }: AgentRow,
  { hookIds, events }: { hookIds: string[]; events: TriggerEvent[] },
): FollowUp => ({
  statements: hookIds.flatMap((id) =>
    events.flatMap((event) => fireStatements(deps, id, event, hops + 1).statements),
  ),
  committed: () => {
    for (const id of hookIds) deps.queue.added(id, events.length);
  },
});

const hooksFor = (
  store: Store,
  { user_id: userId, hook_id: hookId }: AgentRow,
  trigger: HookRow['trigger'],
): Promise<string[]> => store.look('firedHooks', { userId, trigger, hookId });
