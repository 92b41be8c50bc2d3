import { iso } from '../../kernel/clock.js';
import { Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { AgentRow, AgentStatus } from '../../store/tables.js';
import type { Queue } from '../jobs/queue.js';
import { addJob, removeJobsOf } from '../jobs/statements.js';
import { FINISHED, ImpossibleMove, JOB, mayMove, originsOf } from './agent.js';
import { endExecution } from './ending.js';
import { createRecord, type RecordDeps } from './record.js';
import type { AgentRows } from './rows.js';
import { type NewAgent, spawnRecord } from './spawn.js';

export interface ControlDeps extends RecordDeps {
  rows: AgentRows;
  queue: Queue;
}

/** What can be done to an agent from outside; each verb is durable when it resolves. */
export interface AgentControl {
  spawn(agent: NewAgent): Promise<{ id: string; sessionId: string }>;
  message(agent: AgentRow, content: string): Promise<void>;
  pause(agent: AgentRow): Promise<void>;
  resume(agent: AgentRow): Promise<void>;
  stop(agent: AgentRow): Promise<void>;
  /** Stops it if it is not finished, then forgets it. Its session's messages stay. */
  remove(agent: AgentRow): Promise<void>;
  /** The loop puts itself here while it works, so that a verb can end it at once. */
  running: Map<string, Work>;
}

/** An agent's loop at work: how to end it, and when it has ended. */
export interface Work {
  abort(): void;
  ended: Promise<void>;
}

/** Impossible moves throw ImpossibleMove. */
export const createControl = (deps: ControlDeps): AgentControl => {
  const { store, rows, queue } = deps;
  const running = new Map<string, Work>();

  const interrupt = async (id: string): Promise<void> => {
    const work = running.get(id);
    work?.abort();
    await work?.ended;
  };

  /** The move is judged in its own transaction; what the loop does at the same moment cannot win over it. */
  const move = async (agent: AgentRow, to: AgentStatus, verb: string): Promise<void> => {
    const record = createRecord(deps, agent);
    const more = to === 'stopped' ? { finished_at: record.at, error: null } : {};
    record.move(
      originsOf(to).filter((from) => !FINISHED.includes(from)),
      to,
      more,
    );
    if (to === 'queued') record.add(jobOf(agent, record.at));
    else record.add(removeJobsOf(store, agent.id));
    if (to === 'stopped') {
      record.add(...endExecution(store, agent, { status: 'error', error: 'stopped' }, record.at));
    }
    try {
      await record.commit();
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      const now = await rows.byId(agent.id);
      throw new ImpossibleMove(now?.status ?? agent.status, verb);
    }
  };

  const jobOf = (agent: AgentRow, at: string) =>
    addJob(store, { kind: JOB, ref: agent.id, lane: agent.lane, runAt: at });

  const stop = async (agent: AgentRow): Promise<void> => {
    await move(agent, 'stopped', 'stop');
    await interrupt(agent.id);
  };

  return {
    running,
    spawn: async (agent) => {
      const { id, sessionId, record } = spawnRecord(deps, agent);
      record.add(addJob(store, { kind: JOB, ref: id, lane: agent.lane, runAt: record.at }));
      await record.commit();
      queue.added(agent.lane);
      return { id, sessionId };
    },
    message: (agent, content) => tell(agent, content),
    pause: async (agent) => {
      if (!mayMove(agent.status, 'paused')) throw new ImpossibleMove(agent.status, 'pause');
      await move(agent, 'paused', 'pause');
      await interrupt(agent.id);
    },
    resume: async (agent) => {
      if (agent.status !== 'paused') throw new ImpossibleMove(agent.status, 'resume');
      await move(agent, 'queued', 'resume');
      queue.added(agent.lane);
    },
    stop,
    remove: async (agent) => {
      if (!FINISHED.includes(agent.status)) await stop(agent);
      await store.transact([
        removeJobsOf(store, agent.id),
        statement(store.db.deleteFrom('agents').where('id', '=', agent.id)),
      ]);
    },
  };

  /** While it runs, the message waits for the next step; a finished agent takes it as its next turn. */
  async function tell(agent: AgentRow, content: string): Promise<void> {
    const record = createRecord(deps, agent).message({ role: 'user', content });
    if (!FINISHED.includes(agent.status)) {
      record.add(statement(stillIn(agent.id, originsOf('stopped')), 1));
      return record.commit().catch((error) => tellAgain(error, agent, content));
    }
    record
      .move(FINISHED, 'queued', { result: null, error: null, finished_at: null })
      .add(jobOf(agent, iso(deps.clock.now())));
    await record.commit().catch((error) => tellAgain(error, agent, content));
    queue.added(agent.lane);
  }

  /** It finished, or went on, between the look and the write: look again. */
  async function tellAgain(error: unknown, agent: AgentRow, content: string): Promise<void> {
    if (!(error instanceof Unmet)) throw error;
    const now = await rows.byId(agent.id);
    if (!now) throw error;
    await tell(now, content);
  }

  function stillIn(id: string, states: AgentStatus[]) {
    return store.db
      .updateTable('agents')
      .set({ error: null })
      .where('id', '=', id)
      .where('status', 'in', states);
  }
};
