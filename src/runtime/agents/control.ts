import { Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { Queue } from '../jobs/queue.js';
import { addJob, removeJobOfAgent } from '../jobs/statements.js';
import {
  FINISHED,
  ImpossibleMove,
  JOB,
  NoSession,
  SessionBusy,
  UNFINISHED,
  verbs,
} from './agent.js';
import { endExecution } from './ending.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';
import type { AgentRows } from './rows.js';
import { type NewAgent, onlyFree, spawnRecord } from './spawn.js';

export interface ControlDeps extends RecordDeps {
  rows: AgentRows;
  queue: Queue;
  executionEnded(agent: AgentRow): void;
  removeFolder(agent: AgentRow): Promise<void>;
}

/**
 * What can be done to an agent from outside; each verb is durable when it resolves, and the loop has
 * ended where it was to end. Every verb but `spawn` does nothing to an agent that is removed meanwhile.
 */
export interface AgentControl {
  /** Errors: NoSession, SessionBusy. */
  spawn(agent: NewAgent): Promise<{ id: string; sessionId: string }>;
  /** While it runs, read before its next step; a finished agent takes it as its next turn. Errors: SessionBusy. */
  message(agent: AgentRow, content: string): Promise<void>;
  /** Errors of these three: ImpossibleMove. */
  pause(agent: AgentRow): Promise<void>;
  resume(agent: AgentRow): Promise<void>;
  stop(agent: AgentRow): Promise<void>;
  /** Stops it if it is not finished, and forgets it. Its session's messages stay. */
  remove(agent: AgentRow): Promise<void>;
  /** The loop puts itself here while it works, so that a verb can end it at once. */
  running: Map<string, Work>;
}

/** An agent's loop at work: how to end it, and when it has ended. */
export interface Work {
  abort(): void;
  ended: Promise<void>;
}

export const createControl = (deps: ControlDeps): AgentControl => {
  const { store, rows, queue } = deps;
  const running = new Map<string, Work>();

  const interrupt = async (id: string): Promise<void> => {
    const work = running.get(id);
    work?.abort();
    await work?.ended;
  };

  /** The move is judged in its own transaction: what the loop does at the same moment cannot win over it. */
  const move = async (agent: AgentRow, verb: keyof typeof verbs): Promise<boolean> => {
    try {
      await moveRecord(deps, agent, verb).commit();
      return true;
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      const now = await rows.byId(agent.id);
      if (now) throw new ImpossibleMove(now.status, verb);
      return false;
    }
  };

  const spawn: AgentControl['spawn'] = async (agent) => {
    const session =
      agent.sessionId !== undefined && (await rows.session(agent.userId, agent.sessionId));
    if (session === undefined) throw new NoSession();
    // What a hook's payload said is in the session: whoever reads it is not to be trusted either.
    const untrusted = agent.untrusted || (session && session.channel === 'hook');
    const { id, sessionId, record } = spawnRecord(deps, { ...agent, untrusted });
    record.add(addJob(store, { kind: JOB, ref: id, lane: agent.lane, runAt: record.at }));
    await record.commit().catch((error) => {
      throw error instanceof Unmet ? new SessionBusy() : error;
    });
    queue.added(agent.lane);
    return { id, sessionId };
  };

  const message = async (agent: AgentRow, content: string): Promise<void> => {
    const isNextTurn = FINISHED.includes(agent.status);
    try {
      await (isNextTurn ? nextTurn : aside)(deps, agent, content).commit();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      // It finished, or went on, between the look and the write: look again.
      const now = await rows.byId(agent.id);
      if (isNextTurn && now && FINISHED.includes(now.status)) throw new SessionBusy();
      return now && message(now, content);
    }
    if (isNextTurn) queue.added(agent.lane);
  };

  const remove = async (agent: AgentRow): Promise<void> => {
    const isFinished = FINISHED.includes(agent.status);
    const record = isFinished
      ? createRecord(deps, agent).only(FINISHED).add(removeJobOfAgent(store, agent.id))
      : moveRecord(deps, agent, 'stop');
    record.add(statement(store.db.deleteFrom('agents').where('id', '=', agent.id), 1));
    try {
      await record.commit();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      const now = await rows.byId(agent.id);
      return now && remove(now);
    }
    await interrupt(agent.id);
    await deps.removeFolder(agent);
    if (!isFinished) deps.executionEnded(agent);
  };

  return {
    running,
    spawn,
    message,
    remove,
    pause: async (agent) => {
      if (await move(agent, 'pause')) await interrupt(agent.id);
    },
    resume: async (agent) => {
      if (await move(agent, 'resume')) queue.added(agent.lane);
    },
    stop: async (agent) => {
      if (!(await move(agent, 'stop'))) return;
      deps.executionEnded(agent);
      await interrupt(agent.id);
    },
  };
};

const moveRecord = (deps: ControlDeps, agent: AgentRow, verb: keyof typeof verbs): AgentRecord => {
  const { store } = deps;
  const { from, to } = verbs[verb];
  const record = createRecord(deps, agent);
  if (to === 'queued') return record.move(from, to).add(jobOf(deps, agent, record.at));
  if (to === 'paused') return record.move(from, to).add(removeJobOfAgent(store, agent.id));
  const ended = { status: 'error', error: 'stopped' } as const;
  return record
    .move(from, to, { finished_at: record.at, error: null })
    .add(removeJobOfAgent(store, agent.id), ...endExecution(store, agent, ended, record.at));
};

const jobOf = ({ store }: ControlDeps, agent: AgentRow, runAt: string) =>
  addJob(store, { kind: JOB, ref: agent.id, lane: agent.lane, runAt });

/** Said to an agent that is not finished: it waits for the next step. */
const aside = (deps: ControlDeps, agent: AgentRow, content: string): AgentRecord =>
  createRecord(deps, agent).only(UNFINISHED).message({ role: 'user', content });

const nextTurn = (deps: ControlDeps, agent: AgentRow, content: string): AgentRecord => {
  const record = createRecord(deps, agent);
  return record
    .add(onlyFree(deps.store, { id: agent.session_id, userId: agent.user_id }))
    .move(FINISHED, 'queued', { result: null, error: null, finished_at: null })
    .message({ role: 'user', content })
    .add(jobOf(deps, agent, record.at));
};
