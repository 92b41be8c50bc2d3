import { voidApproved, WITHDRAWN, withdraw } from '../approvals/module.js';
import { addJob, type Queue, removeJobOfAgent, resumeAgent } from '../jobs/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { statement, unlessUnmet, unmetStep } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { FINISHED, ImpossibleMove, JOB, NoSession, SessionBusy } from './agent.js';
import { jobOf, type MovingDeps, moveTree, moveUnder, type TreeMove, type Verb } from './move.js';
import { createRecord } from './record.js';
import { onlyFree, type SpawnRequest, spawnRecord } from './spawn.js';
import { createDeltas, type Deltas } from './textdeltas.js';

export interface ControlDeps extends MovingDeps {
  queue: Queue;
  removeFolder(agent: AgentRow): Promise<void>;
}

/** The agents at work in this process. */
export interface LiveAgents {
  /**
   * The loops at work: how to end each, and when it has ended. Each registers itself here, so that
   * a verb can end it at once.
   */
  running: Map<string, { abort(): void; ended: Promise<void> }>;
  deltas: Deltas;
}

/**
 * Creates the operations on an agent from outside. Each verb is durable when it resolves, and if it
 * ends the loop, the loop has ended. Every verb but `spawn` does nothing to an agent that is removed
 * meanwhile.
 */
export const createControl = (deps: ControlDeps) => {
  const { rows, queue } = deps;
  const live: LiveAgents = { running: new Map(), deltas: createDeltas() };

  const interrupt = async (agents: AgentRow[]): Promise<void> => {
    const works = agents.flatMap(({ id }) => live.running.get(id) ?? []);
    for (const work of works) work.abort();
    await Promise.all(works.map(({ ended }) => ended));
  };

  /**
   * Changes the state of an agent and of all its sub-agents. The change is judged in its own
   * transaction, so that the loop cannot override it at the same moment. Returns null if the agent
   * is gone.
   */
  const move = async (agent: AgentRow, verb: Verb): Promise<AgentRow[] | null> => {
    const { record, under, published } = await moveTree(deps, agent, verb);
    const unmet = await unmetStep(record.commit());
    if (unmet === null) {
      published();
      return [agent, ...under];
    }
    const now = await rows.byId(agent.id);
    if (!now) return null;
    if (unmet === 0) throw new ImpossibleMove(now.status, verb);
    return move(now, verb);
  };

  /** Tells those who wait for the agent that it has ended. */
  const tellEnd = (agent: AgentRow): void => {
    deps.followers.ended(agent);
    if (agent.parent_id !== null) queue.added(agent.lane);
  };

  const message = async (
    agent: AgentRow,
    content: string,
    also: TransactionStep[] = [],
  ): Promise<void> => {
    const isNextTurn = FINISHED.includes(agent.status);
    const reply = isNextTurn ? nextTurn(deps, agent, content) : await aside(deps, agent, content);
    if (await unlessUnmet(reply.record.add(...also).commit())) {
      reply.published();
      queue.added(agent.lane);
      return;
    }
    // The agent finished, continued or got a decision between the query and the write: try again.
    const now = await rows.byId(agent.id);
    if (isNextTurn && now && FINISHED.includes(now.status)) throw new SessionBusy();
    if (now) await message(now, content, also);
  };

  const remove = async (agent: AgentRow): Promise<void> => {
    const gone = [agent, ...(await rows.under(agent.id))];
    const { record, under, published } = await removal(deps, agent, gone);
    if (!(await unlessUnmet(record.commit()))) {
      const now = await rows.byId(agent.id);
      return now && remove(now);
    }
    published();
    await interrupt([agent, ...under]);
    await Promise.all(gone.map(deps.removeFolder));
    if (!FINISHED.includes(agent.status)) tellEnd(agent);
  };

  const stop = async (agent: AgentRow): Promise<void> => {
    const stopped = await move(agent, 'stop');
    if (!stopped) return;
    tellEnd(agent);
    await interrupt(stopped);
  };

  return {
    live,
    /** Creates an agent. Errors: NoSession, SessionBusy. */
    spawn: async (agent: SpawnRequest): Promise<{ id: string; sessionId: string }> => {
      const session =
        agent.sessionId !== undefined && (await rows.session(agent.userId, agent.sessionId));
      if (session === undefined) throw new NoSession();
      const { id, sessionId, record } = spawnRecord(deps, agent);
      record.add(addJob({ kind: JOB, ref: id, lane: agent.lane, runAt: record.at }));
      if (!(await unlessUnmet(record.commit()))) throw new SessionBusy();
      queue.added(agent.lane);
      return { id, sessionId };
    },
    /** Sends a message, committed together with `also`. Errors: SessionBusy. */
    message,
    /** Pauses the agent and, as the next two, its sub-agents if possible. Errors: ImpossibleMove. */
    pause: async (agent: AgentRow): Promise<void> => {
      await interrupt((await move(agent, 'pause')) ?? []);
    },
    resume: async (agent: AgentRow): Promise<void> => {
      const resumed = await move(agent, 'resume');
      if (resumed) queue.added(agent.lane, resumed.length);
    },
    stop,
    /** Stops all unfinished agents of a user. */
    stopAll: async (userId: string): Promise<void> => {
      const agents = await rows.unfinished(userId);
      await Promise.all(agents.map((agent) => stop(agent).catch(unlessFinished)));
    },
    /** Stops the agent and deletes it with its sub-agents; the session keeps its messages. */
    remove,
  };
};

export type AgentControl = ReturnType<typeof createControl>;

/**
 * Builds the record that stops an agent and its sub-agents if they are not finished, and deletes
 * all of them.
 */
const removal = async (deps: ControlDeps, agent: AgentRow, gone: AgentRow[]): Promise<TreeMove> => {
  const { store } = deps;
  const ids = gone.map(({ id }) => id);
  const forgotten = store.db.deleteFrom('agents').where('id', 'in', ids);
  if (!FINISHED.includes(agent.status)) {
    const whole = await moveTree(deps, agent, 'stop');
    whole.record.add(statement(forgotten, gone.length));
    return whole;
  }
  const withdrawn = await withdraw(deps, agent.id, 'stopped');
  const { moves, ...rest } = await moveUnder(deps, agent, 'stop');
  const record = createRecord(deps, agent)
    .only(FINISHED)
    .add(removeJobOfAgent(agent.id), ...withdrawn.statements);
  for (const move of moves) record.join(move);
  return { ...rest, record: record.add(statement(forgotten, gone.length)) };
};

const unlessFinished = (error: unknown): void => {
  if (!(error instanceof ImpossibleMove)) throw error;
};

/** A message to an agent, and what to publish after its commit. */
type MessageRecord = Pick<TreeMove, 'record' | 'published'>;

/**
 * Builds the record for a message to an agent that is not finished. The message denies the agent's
 * pending approvals. An agent that waits for them or for sub-agents reads it at once, any other
 * before its next step.
 */
const aside = async (
  deps: ControlDeps,
  agent: AgentRow,
  content: string,
): Promise<MessageRecord> => {
  const { statements, pending, published } = await withdraw(deps, agent.id, 'overtaken');
  const record = createRecord(deps, agent);
  const waits = agent.status === 'waiting_approval';
  if (waits) record.move([agent.status], 'queued').add(jobOf(agent, record.at));
  else record.only([agent.status]).add(resumeAgent(deps.store, agent.id, record.at));
  record.add(...statements);
  for (const row of pending) {
    record.event('agent.tool_call', {
      phase: 'approval',
      approvalId: row.id,
      callId: row.call_id,
      tool: `${row.tool}.${row.action}`,
      status: 'denied',
      reason: WITHDRAWN.overtaken,
    });
  }
  return { record: record.message({ role: 'user', content }), published };
};

const nextTurn = (deps: ControlDeps, agent: AgentRow, content: string): MessageRecord => {
  const record = createRecord(deps, agent);
  record
    .add(onlyFree(deps.store, { id: agent.session_id, userId: agent.user_id }))
    .move(FINISHED, 'queued', { result: null, note: null, error: null, finished_at: null })
    .add(voidApproved(deps.store, agent.id, record.at))
    .message({ role: 'user', content })
    .add(jobOf(agent, record.at));
  return { record, published: () => undefined };
};
