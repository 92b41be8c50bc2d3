import { type WithdrawingDeps, withdraw } from '../approvals/withdraw.js';
import { addJob, removeJobOfAgent } from '../jobs/statements.js';
import type { Posting } from '../outbound/outbox.js';
import type { Statement } from '../store/engine/protocol.js';
import { statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { JOB, UNFINISHED, verbs } from './agent.js';
import { endExecution } from './execution.js';
import type { RestOfNotices } from './notifytool.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';
import { type AgentRows, isUnder } from './rows.js';
import { wakeParent } from './subagents.js';

/** The end of the execution that spawned an agent, as outgoing webhooks get it. */
export interface ExecutionEnd {
  status: 'success' | 'error' | 'skipped' | 'interrupted';
  result?: unknown;
  error?: string;
}

/**
 * Builds the event for the end of the execution that spawned an agent, in the transaction that ends
 * both.
 */
export type ExecutionEvent = (agent: AgentRow, end: ExecutionEnd) => Promise<Posting>;

export interface MovingDeps extends RecordDeps, WithdrawingDeps {
  rows: AgentRows;
  executionEvent: ExecutionEvent;
  restOfNotices: RestOfNotices;
}

export type Verb = keyof typeof verbs;

/** The effect of a verb on an agent and on all its sub-agents, in one transaction. */
export interface TreeMove {
  /**
   * The record to commit. The commit throws Unmet at 0 if the agent cannot make that change, and
   * elsewhere if a sub-agent changed between the query and the write.
   */
  record: AgentRecord;
  /** The sub-agents that change with it. */
  under: AgentRow[];
  /** Publishes the changes after the commit. */
  published(): void;
}

/** The outcome of the execution of an agent that is stopped. */
const STOPPED = { status: 'error', error: 'stopped' } as const;

export const moveTree = async (
  deps: MovingDeps,
  agent: AgentRow,
  verb: Verb,
): Promise<TreeMove> => {
  const { under, moves, published } = await moveUnder(deps, agent, verb);
  const told =
    verb === 'stop'
      ? [
          await withdraw(deps, agent.id, 'stopped'),
          await deps.executionEvent(agent, STOPPED),
          ...(await deps.restOfNotices(agent)),
        ]
      : [];
  const record = moveOne(deps, agent, verb).add(...told.flatMap((one) => one.statements));
  for (const move of moves) record.join(move);
  return {
    record,
    under,
    published: () => {
      for (const one of told) one.published();
      published();
    },
  };
};

/**
 * Returns the effect of a verb on the sub-agents of an agent; the records must be committed
 * together.
 */
export const moveUnder = async (
  deps: MovingDeps,
  agent: Pick<AgentRow, 'id' | 'user_id' | 'session_id'>,
  verb: Verb,
): Promise<Omit<TreeMove, 'record'> & { moves: AgentRecord[] }> => {
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

/**
 * Builds a statement that holds if exactly this many sub-agents of the agent have not finished; it
 * throws Unmet otherwise.
 */
const onlyUnder = ({ store }: MovingDeps, id: string, count: number): Statement => {
  const touched = store.db
    .updateTable('agents')
    .set((of) => ({ status: of.ref('status') }))
    .where(isUnder(id))
    .where('status', 'in', UNFINISHED);
  return statement(touched, count);
};

/** Builds the record of one agent; its first statement is the change of state itself. */
const moveOne = (deps: MovingDeps, agent: AgentRow, verb: Verb): AgentRecord => {
  const { store } = deps;
  const { from, to } = verbs[verb];
  const record = createRecord(deps, agent);
  if (to === 'queued') return record.move(from, to).add(jobOf(deps, agent, record.at));
  if (to === 'paused') return record.move(from, to).add(removeJobOfAgent(store, agent.id));
  return record
    .move(from, to, { finished_at: record.at, error: null })
    .add(
      removeJobOfAgent(store, agent.id),
      ...endExecution(store, agent, STOPPED, record.at),
      ...wakeParent(store, { ...agent, status: 'stopped' }, record.at),
    );
};

/** Builds the statement for the job with which an agent begins or continues. */
export const jobOf = ({ store }: RecordDeps, agent: AgentRow, runAt: string): Statement =>
  addJob(store, { kind: JOB, ref: agent.id, lane: agent.lane, runAt });
