import { withdraw } from '../approvals/module.js';
import { addJob, removeJobOfAgent } from '../jobs/module.js';
import type { Outbound } from '../outbound/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { assertRows } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { JOB, UNFINISHED, verbs } from './agent.js';
import type { Followers } from './followers.js';
import { remainingNotices } from './notifytool.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';
import { type AgentRows, isSubAgentOf } from './rows.js';
import { resumeParent } from './subagents.js';

export interface TransitionDeps extends RecordDeps {
  rows: AgentRows;
  outbound: Outbound;
  followers: Followers;
}

export type Verb = keyof typeof verbs;

/** The effect of a command on an agent and its sub-agents, in one transaction. */
export interface TreeTransition {
  /**
   * The commit throws Unmet: at 0 if the status forbids the change, otherwise if a sub-agent
   * changed meanwhile.
   */
  record: AgentRecord;
  under: AgentRow[];
  published(): void;
}

/** Outcome of the execution of a stopped agent. */
const STOPPED = { status: 'error', error: 'stopped' } as const;

export const transitionTree = async (
  deps: TransitionDeps,
  agent: AgentRow,
  verb: Verb,
): Promise<TreeTransition> => {
  const { under, moves, published } = await transitionSubAgents(deps, agent, verb);
  const messages =
    verb === 'stop'
      ? [
          await withdraw(deps, agent.id, 'stopped'),
          await deps.followers.executions.event(agent, STOPPED),
          ...(await remainingNotices(deps.store, deps.outbound.outbox, agent)),
        ]
      : [];
  const record = moveOne(deps, agent, verb).add(...messages.flatMap((one) => one.statements));
  for (const move of moves) record.join(move);
  return {
    record,
    under,
    published: () => {
      for (const one of messages) one.published();
      published();
    },
  };
};

/** The records must be committed together. */
export const transitionSubAgents = async (
  deps: TransitionDeps,
  agent: Pick<AgentRow, 'id' | 'user_id' | 'session_id'>,
  verb: Verb,
): Promise<Omit<TreeTransition, 'record'> & { moves: AgentRecord[] }> => {
  const all = await deps.rows.under(agent.id);
  const unfinished = all.filter(({ status }) => UNFINISHED.includes(status));
  const { from } = verbs[verb];
  const under = unfinished.filter(({ status }) => from.some((one) => one === status));
  const withdrawn = await Promise.all(
    verb === 'stop' ? under.map(({ id }) => withdraw(deps, id, 'stopped')) : [],
  );
  const whole = createRecord(deps, agent).add(
    onlyUnder(deps, agent.id, unfinished.length),
    ...withdrawn.flatMap(({ statements }) => statements),
  );
  return {
    under,
    moves: [whole, ...under.map((sub) => moveOne(deps, sub, verb))],
    published: () => {
      for (const one of withdrawn) one.published();
    },
  };
};

/** Holds if exactly this many sub-agents are unfinished. Throws Unmet otherwise. */
const onlyUnder = ({ store }: TransitionDeps, id: string, count: number): Statement => {
  const unfinished = store.db
    .selectFrom('agents')
    .select('id')
    .where(isSubAgentOf(id))
    .where('status', 'in', UNFINISHED);
  return assertRows(unfinished, count);
};

/** The first statement is the status change. */
const moveOne = (deps: TransitionDeps, agent: AgentRow, verb: Verb): AgentRecord => {
  const { store } = deps;
  const { from, to } = verbs[verb];
  const record = createRecord(deps, agent);
  if (to === 'queued') return record.move(from, to).add(agentJob(agent, record.at));
  if (to === 'paused') return record.move(from, to).add(removeJobOfAgent(agent.id));
  return record
    .move(from, to, { finished_at: record.at, error: null })
    .add(
      removeJobOfAgent(agent.id),
      ...endExecution(agent, STOPPED, record.at),
      ...resumeParent(store, { ...agent, status: 'stopped' }, record.at),
    );
};

export const agentJob = (agent: AgentRow, runAt: string): Statement =>
  addJob({ kind: JOB, ref: agent.id, lane: agent.lane, runAt });

type AgentEnd =
  | { status: 'success'; result: string; note: string | null }
  | { status: 'error'; error: string };

const textAndNote = ({ result: text, note }: { result: string; note: string | null }) =>
  note === null ? { text } : { text, note };

/** Must be part of the transaction that ends the agent. */
export const endExecution = (
  agent: Pick<AgentRow, 'execution_id'>,
  outcome: AgentEnd,
  at: string,
): Statement[] => {
  if (agent.execution_id === null) return [];
  const { status } = outcome;
  const result = status === 'success' ? JSON.stringify(textAndNote(outcome)) : null;
  const error = status === 'error' ? outcome.error : null;
  return [
    {
      sql: `UPDATE executions SET status = ?, effect = 'done', result = ?, error = ?,
          finished_at = ?
        WHERE id = ? AND status IN ('running', 'queued')`,
      parameters: [status, result, error, at, agent.execution_id],
    },
  ];
};
