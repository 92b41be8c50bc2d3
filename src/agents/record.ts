import { type Clock, iso } from '../kernel/clock.js';
import { excerpt } from '../kernel/excerpt.js';
import { mint } from '../kernel/ids.js';
import type { Hub } from '../realtime/module.js';
import type { Statement, StatementResult, TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { AgentRow, AgentStatus, Generation, MessageRow } from '../store/tables/agents.js';
import { appendEvent, appendMessage } from '../store/transcript.js';
import type { AgentEvent } from './contract.js';

export interface RecordDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
}

interface Recorded {
  statements: TransactionStep[];
  /** `at` is the index of the statement that returns the number of the event. */
  events: { at: number; event: Omit<AgentEvent, 'id'> }[];
}

type RecordedAgent = Pick<AgentRow, 'id' | 'user_id' | 'session_id'>;
type TranscriptEntry = Pick<MessageRow, 'role' | 'content'> & {
  id?: string;
  toolCalls?: unknown[];
  toolCallId?: string;
  generation?: Generation;
};

/**
 * One durable change to an agent: statements and events that are committed together. The events are
 * published after the commit.
 */
export const createRecord = ({ store, clock, hub }: RecordDeps, agent: RecordedAgent) => {
  const at = iso(clock.now());
  const statements: TransactionStep[] = [];
  const events: Recorded['events'] = [];

  const record = {
    at,
    recorded: { statements, events },
    /** Adds the change of another agent of the same user to the transaction. */
    join: ({ recorded }: { recorded: Recorded }) => {
      const before = statements.length;
      events.push(...recorded.events.map((one) => ({ ...one, at: before + one.at })));
      statements.push(...recorded.statements);
      return record;
    },
    add: (...more: TransactionStep[]) => {
      statements.push(...more);
      return record;
    },
    event: (type: AgentEvent['type'], data: Record<string, unknown>) => {
      events.push({ at: statements.length, event: { type, agentId: agent.id, data, at } });
      statements.push(...appendEvent({ agentId: agent.id, type, data, at }));
      return record;
    },
    /** The commit throws Unmet unless the agent has one of these statuses. */
    only: (states: readonly AgentStatus[], change: Partial<AgentRow> = {}) => {
      statements.push(onlyIn({ id: agent.id, states, change }));
      return record;
    },
    move: (from: readonly AgentStatus[], to: AgentStatus, change: Partial<AgentRow> = {}) => {
      const { result, error } = change;
      return record.only(from, { ...change, status: to }).event('agent.status', {
        status: to,
        ...(result !== undefined && { result: result === null ? null : excerpt(result) }),
        ...(error !== undefined && { error }),
      });
    },
    message: ({ id, role, content, toolCalls, toolCallId, generation }: TranscriptEntry) => {
      const message = {
        id: id ?? mint('message', clock.now()),
        session_id: agent.session_id,
        role,
        content,
        tool_calls: toolCalls ?? null,
        tool_call_id: toolCallId ?? null,
        agent_id: agent.id,
        created_at: at,
        ...(generation && { generation }),
      };
      return record.add(...appendMessage(message));
    },
    commit: async (): Promise<StatementResult[]> => {
      const outcomes = await store.transact(statements);
      for (const { at: index, event } of events) {
        hub.publish(agent.user_id, event.type, { id: getReturnedSeq(outcomes[index]), ...event });
      }
      return outcomes;
    },
  };
  return record;
};

interface StateChange {
  id: string;
  states: readonly AgentStatus[];
  change: Partial<AgentRow>;
}

/** Without changes, the statement only asserts the status. */
const onlyIn = ({ id, states, change }: StateChange): Statement => {
  const set = Object.keys(change).map((column) => `"${column}" = ?`);
  const wanted = `id = ? AND status IN (${states.map(() => '?').join(', ')})`;
  return {
    sql:
      set.length > 0
        ? `UPDATE agents SET ${set.join(', ')} WHERE ${wanted}`
        : `SELECT id FROM agents WHERE ${wanted}`,
    parameters: [...Object.values(change), id, ...states],
    expect: 1,
  };
};

export type AgentRecord = ReturnType<typeof createRecord>;

const getReturnedSeq = (outcome: StatementResult | undefined): number => {
  const [row] = outcome?.rows ?? [];
  return typeof row === 'object' && row !== null && 'seq' in row ? Number(row.seq) : 0;
};
