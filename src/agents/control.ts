import { voidApproved, WITHDRAWN, withdraw } from '../approvals/withdraw.js';
import type { Queue } from '../jobs/queue.js';
import { addJob, removeJobOfAgent, resumeAgent } from '../jobs/statements.js';
import { type TransactionStep, Unmet } from '../store/engine/protocol.js';
import { statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { FINISHED, ImpossibleMove, JOB, NoSession, SessionBusy } from './agent.js';
import { jobOf, type MovingDeps, moveTree, moveUnder, type TreeMove, type Verb } from './move.js';
import { type AgentRecord, createRecord } from './record.js';
import { onlyFree, type SpawnRequest, spawnRecord } from './spawn.js';

export interface ControlDeps extends MovingDeps {
  queue: Queue;
  executionEnded(agent: AgentRow): void;
  removeFolder(agent: AgentRow): Promise<void>;
}

/**
 * The operations on an agent from outside. Each verb is durable when it resolves, and if it ends
 * the loop, the loop has ended. Every verb but `spawn` does nothing to an agent that is removed
 * meanwhile.
 */
export interface AgentControl {
  /** Creates an agent. Errors: NoSession, SessionBusy. */
  spawn(agent: SpawnRequest): Promise<{ id: string; sessionId: string }>;
  /**
   * Sends a message: an agent that runs reads it before its next step, a finished one takes it as
   * its next turn. `also` is committed together with it. Errors: SessionBusy.
   */
  message(agent: AgentRow, content: string, also?: TransactionStep[]): Promise<void>;
  /**
   * Pauses the agent. This verb and the next two also apply to all its sub-agents, as far as their
   * states permit. Errors: ImpossibleMove.
   */
  pause(agent: AgentRow): Promise<void>;
  resume(agent: AgentRow): Promise<void>;
  stop(agent: AgentRow): Promise<void>;
  /** Stops all unfinished agents of a user. */
  stopAll(userId: string): Promise<void>;
  /**
   * Stops the agent if it is not finished, and deletes it with all its sub-agents. The messages of
   * its session stay.
   */
  remove(agent: AgentRow): Promise<void>;
  /** The loops at work. Each registers itself here, so that a verb can end it at once. */
  running: Map<string, RunningLoop>;
}

/** A loop at work: how to end it, and when it has ended. */
export interface RunningLoop {
  abort(): void;
  ended: Promise<void>;
}

export const createControl = (deps: ControlDeps): AgentControl => {
  const { store, rows, queue } = deps;
  const running = new Map<string, RunningLoop>();

  const interrupt = async (agents: AgentRow[]): Promise<void> => {
    const works = agents.flatMap(({ id }) => running.get(id) ?? []);
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
    try {
      await record.commit();
      published();
      return [agent, ...under];
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      const now = await rows.byId(agent.id);
      if (!now) return null;
      if (error.at === 0) throw new ImpossibleMove(now.status, verb);
      return move(now, verb);
    }
  };

  const spawn: AgentControl['spawn'] = async (agent) => {
    const session =
      agent.sessionId !== undefined && (await rows.session(agent.userId, agent.sessionId));
    if (session === undefined) throw new NoSession();
    const { id, sessionId, record } = spawnRecord(deps, agent);
    record.add(addJob(store, { kind: JOB, ref: id, lane: agent.lane, runAt: record.at }));
    await record.commit().catch((error) => {
      throw error instanceof Unmet ? new SessionBusy() : error;
    });
    queue.added(agent.lane);
    return { id, sessionId };
  };

  const message: AgentControl['message'] = async (agent, content, also = []) => {
    const isNextTurn = FINISHED.includes(agent.status);
    const said = isNextTurn ? nextTurn(deps, agent, content) : await aside(deps, agent, content);
    try {
      await said.record.add(...also).commit();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      // The agent finished, continued or got a decision between the query and the write: try again.
      const now = await rows.byId(agent.id);
      if (isNextTurn && now && FINISHED.includes(now.status)) throw new SessionBusy();
      return now && message(now, content, also);
    }
    said.published();
    queue.added(agent.lane);
  };

  const remove = async (agent: AgentRow): Promise<void> => {
    const gone = [agent, ...(await rows.under(agent.id))];
    const { record, under, published } = await removal(deps, agent, gone);
    try {
      await record.commit();
      published();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      const now = await rows.byId(agent.id);
      return now && remove(now);
    }
    await interrupt([agent, ...under]);
    await Promise.all(gone.map(deps.removeFolder));
    if (FINISHED.includes(agent.status)) return;
    deps.executionEnded(agent);
    if (agent.parent_id !== null) queue.added(agent.lane);
  };

  const stop = async (agent: AgentRow): Promise<void> => {
    const stopped = await move(agent, 'stop');
    if (!stopped) return;
    deps.executionEnded(agent);
    if (agent.parent_id !== null) queue.added(agent.lane);
    await interrupt(stopped);
  };

  return {
    running,
    spawn,
    message,
    remove,
    pause: async (agent) => {
      await interrupt((await move(agent, 'pause')) ?? []);
    },
    resume: async (agent) => {
      const resumed = await move(agent, 'resume');
      if (resumed) queue.added(agent.lane, resumed.length);
    },
    stop,
    stopAll: async (userId) => {
      const agents = await rows.unfinished(userId);
      await Promise.all(agents.map((agent) => stop(agent).catch(unlessFinished)));
    },
  };
};

/**
 * Builds the record that stops an agent and its sub-agents if they are not finished, and deletes
 * all of them.
 */
const removal = async (deps: ControlDeps, agent: AgentRow, gone: AgentRow[]): Promise<TreeMove> => {
  const { store } = deps;
  const forgotten = store.db.deleteFrom('agents').where(
    'id',
    'in',
    gone.map(({ id }) => id),
  );
  if (!FINISHED.includes(agent.status)) {
    const whole = await moveTree(deps, agent, 'stop');
    whole.record.add(statement(forgotten, gone.length));
    return whole;
  }
  const withdrawn = await withdraw(deps, agent.id, 'stopped');
  const { moves, ...rest } = await moveUnder(deps, agent, 'stop');
  const record = createRecord(deps, agent)
    .only(FINISHED)
    .add(removeJobOfAgent(store, agent.id), ...withdrawn.statements);
  for (const move of moves) record.join(move);
  return { ...rest, record: record.add(statement(forgotten, gone.length)) };
};

const unlessFinished = (error: unknown): void => {
  if (!(error instanceof ImpossibleMove)) throw error;
};

/** A message to an agent, and what to publish after its commit. */
interface MessageRecord {
  record: AgentRecord;
  published(): void;
}

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
  if (waits) record.move([agent.status], 'queued').add(jobOf(deps, agent, record.at));
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
    .move(FINISHED, 'queued', { result: null, error: null, finished_at: null })
    .add(voidApproved(deps.store, agent.id, record.at))
    .message({ role: 'user', content })
    .add(jobOf(deps, agent, record.at));
  return { record, published: () => undefined };
};
