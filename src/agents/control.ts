import { voidApproved, WITHDRAWAL_REASONS, withdraw } from '../approvals/module.js';
import { addJob, type Queue, removeJobOfAgent, resumeAgent } from '../jobs/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { isCommitted, statement, unmetStep } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { FINISHED, InvalidTransition, JOB, SessionBusy, SessionNotFound } from './agent.js';
import {
  agentJob,
  type TransitionDeps,
  type TreeTransition,
  transitionSubAgents,
  transitionTree,
  type Verb,
} from './move.js';
import { createRecord } from './record.js';
import { assertSessionFree, type SpawnRequest, spawnRecord } from './spawn.js';
import { createDeltas, type Deltas } from './textdeltas.js';

export interface ControlDeps extends TransitionDeps {
  queue: Queue;
  removeFolder(agent: AgentRow): Promise<void>;
}

export interface LiveAgents {
  /** Running loops, so that a command can end them immediately. */
  running: Map<string, { abort(): void; ended: Promise<void> }>;
  deltas: Deltas;
}

/**
 * Every command is durable when it resolves. All commands except `spawn` ignore an agent that is
 * deleted meanwhile.
 */
export const createControl = (deps: ControlDeps) => {
  const { rows, queue } = deps;
  const live: LiveAgents = { running: new Map(), deltas: createDeltas(deps.clock) };

  const interrupt = async (agents: AgentRow[]): Promise<void> => {
    const works = agents.flatMap(({ id }) => live.running.get(id) ?? []);
    for (const work of works) work.abort();
    await Promise.all(works.map(({ ended }) => ended));
  };

  /**
   * The check is part of the transaction, so that the loop cannot override the change. Returns null
   * if the agent is gone.
   */
  const move = async (agent: AgentRow, verb: Verb): Promise<AgentRow[] | null> => {
    const { record, under, published } = await transitionTree(deps, agent, verb);
    const unmet = await unmetStep(record.commit());
    if (unmet === null) {
      published();
      return [agent, ...under];
    }
    const now = await rows.byId(agent.id);
    if (!now) return null;
    if (unmet === 0) throw new InvalidTransition(now.status, verb);
    return move(now, verb);
  };

  /** Notifies everything that waits for the agent. */
  const notifyEnd = (agent: AgentRow): void => {
    deps.followers.ended(agent);
    if (agent.parent_id !== null) queue.added(agent.lane);
  };

  const message = async (
    agent: AgentRow,
    content: string,
    also: TransactionStep[] = [],
  ): Promise<void> => {
    const isNextTurn = FINISHED.includes(agent.status);
    const reply = isNextTurn
      ? nextTurn(deps, agent, content)
      : await interjection(deps, agent, content);
    if (await isCommitted(reply.record.add(...also).commit())) {
      reply.published();
      queue.added(agent.lane);
      return;
    }
    // The agent changed between the query and the write.
    const now = await rows.byId(agent.id);
    if (isNextTurn && now && FINISHED.includes(now.status)) throw new SessionBusy();
    if (now) await message(now, content, also);
  };

  const remove = async (agent: AgentRow): Promise<void> => {
    const gone = [agent, ...(await rows.under(agent.id))];
    const { record, under, published } = await buildRemoval(deps, agent, gone);
    if (!(await isCommitted(record.commit()))) {
      const now = await rows.byId(agent.id);
      return now && remove(now);
    }
    published();
    await interrupt([agent, ...under]);
    await Promise.all(gone.map(deps.removeFolder));
    if (!FINISHED.includes(agent.status)) notifyEnd(agent);
  };

  const stop = async (agent: AgentRow): Promise<void> => {
    const stopped = await move(agent, 'stop');
    if (!stopped) return;
    notifyEnd(agent);
    await interrupt(stopped);
  };

  return {
    live,
    /** Errors: SessionNotFound, SessionBusy. */
    spawn: async (agent: SpawnRequest): Promise<{ id: string; sessionId: string }> => {
      const session =
        agent.sessionId !== undefined && (await rows.session(agent.userId, agent.sessionId));
      if (session === undefined) throw new SessionNotFound();
      const { id, sessionId, record } = spawnRecord(deps, agent);
      record.add(addJob({ kind: JOB, ref: id, lane: agent.lane, runAt: record.at }));
      if (!(await isCommitted(record.commit()))) throw new SessionBusy();
      queue.added(agent.lane);
      return { id, sessionId };
    },
    /** Commits the message together with `also`. Errors: SessionBusy. */
    message,
    /** Errors: InvalidTransition. */
    pause: async (agent: AgentRow): Promise<void> => {
      await interrupt((await move(agent, 'pause')) ?? []);
    },
    resume: async (agent: AgentRow): Promise<void> => {
      const resumed = await move(agent, 'resume');
      if (resumed) queue.added(agent.lane, resumed.length);
    },
    stop,
    stopAll: async (userId: string): Promise<void> => {
      const agents = await rows.unfinished(userId);
      await Promise.all(agents.map((agent) => stop(agent).catch(unlessFinished)));
    },
    /** The session keeps its messages. */
    remove,
  };
};

export type AgentControl = ReturnType<typeof createControl>;

const buildRemoval = async (
  deps: ControlDeps,
  agent: AgentRow,
  gone: AgentRow[],
): Promise<TreeTransition> => {
  const { store } = deps;
  const ids = gone.map(({ id }) => id);
  const forgotten = store.db.deleteFrom('agents').where('id', 'in', ids);
  if (!FINISHED.includes(agent.status)) {
    const whole = await transitionTree(deps, agent, 'stop');
    whole.record.add(statement(forgotten, gone.length));
    return whole;
  }
  const withdrawn = await withdraw(deps, agent.id, 'stopped');
  const { moves, ...rest } = await transitionSubAgents(deps, agent, 'stop');
  const record = createRecord(deps, agent)
    .only(FINISHED)
    .add(removeJobOfAgent(agent.id), ...withdrawn.statements);
  for (const move of moves) record.join(move);
  return { ...rest, record: record.add(statement(forgotten, gone.length)) };
};

const unlessFinished = (error: unknown): void => {
  if (!(error instanceof InvalidTransition)) throw error;
};

type MessageRecord = Pick<TreeTransition, 'record' | 'published'>;

/**
 * The message denies pending approvals. A waiting agent reads it immediately, a working one before
 * its next step.
 */
const interjection = async (
  deps: ControlDeps,
  agent: AgentRow,
  content: string,
): Promise<MessageRecord> => {
  const { statements, pending, published } = await withdraw(deps, agent.id, 'overtaken');
  const record = createRecord(deps, agent);
  const waits = agent.status === 'waiting_approval';
  if (waits) record.move([agent.status], 'queued').add(agentJob(agent, record.at));
  else record.only([agent.status]).add(resumeAgent(deps.store, agent.id, record.at));
  record.add(...statements);
  for (const row of pending) {
    record.event('agent.tool_call', {
      phase: 'approval',
      approvalId: row.id,
      callId: row.call_id,
      tool: `${row.tool}.${row.action}`,
      status: 'denied',
      reason: WITHDRAWAL_REASONS.overtaken,
    });
  }
  return { record: record.message({ role: 'user', content }), published };
};

const nextTurn = (deps: ControlDeps, agent: AgentRow, content: string): MessageRecord => {
  const record = createRecord(deps, agent);
  record
    .add(assertSessionFree(deps.store, { id: agent.session_id, userId: agent.user_id }))
    .move(FINISHED, 'queued', { result: null, note: null, error: null, finished_at: null })
    .add(voidApproved(deps.store, agent.id, record.at))
    .message({ role: 'user', content })
    .add(agentJob(agent, record.at));
  return { record, published: () => undefined };
};
