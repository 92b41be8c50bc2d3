import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Outcome, Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { AgentEventRow, AgentRow, AgentStatus, MessageRow } from '../../store/tables.js';
import { appendEvent, appendMessage } from '../../store/transcript.js';
import type { Hub } from '../realtime/hub.js';

/** An event as it is polled and published: `id` is its number in the agent's ring. */
export interface AgentEvent {
  id: number;
  type: AgentEventRow['type'];
  agentId: string;
  data: Record<string, unknown>;
  at: string;
}

export interface RecordDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
}

type Of = Pick<AgentRow, 'id' | 'user_id' | 'session_id'>;

/**
 * One durable change to an agent: statements and the events that tell of them, committed together;
 * the events are published after the commit, with the numbers that it gave them.
 */
export const createRecord = ({ store, clock, hub }: RecordDeps, agent: Of) => {
  const at = iso(clock.now());
  const statements: Statement[] = [];
  const events: { at: number; event: Omit<AgentEvent, 'id'> }[] = [];

  const record = {
    at,
    add: (...more: Statement[]) => {
      statements.push(...more);
      return record;
    },
    event: (type: AgentEvent['type'], data: Record<string, unknown>) => {
      events.push({ at: statements.length, event: { type, agentId: agent.id, data, at } });
      statements.push(...appendEvent({ agentId: agent.id, type, data, at }));
      return record;
    },
    /** The move itself; nothing is committed unless the agent is in one of these states. */
    move: (from: AgentStatus[], to: AgentStatus, more: Partial<AgentRow> = {}) => {
      statements.push(
        statement(
          store.db
            .updateTable('agents')
            .set({ ...more, status: to })
            .where('id', '=', agent.id)
            .where('status', 'in', from),
          1,
        ),
      );
      return record.event('agent.status', {
        status: to,
        ...(more.result !== undefined && { result: more.result }),
        ...(more.error !== undefined && { error: more.error }),
      });
    },
    message: (
      message: Pick<MessageRow, 'role' | 'content'> & {
        toolCalls?: unknown[];
        toolCallId?: string;
      },
    ) => {
      statements.push(
        ...appendMessage({
          id: mint('message', clock.now()),
          session_id: agent.session_id,
          role: message.role,
          content: message.content,
          tool_calls: message.toolCalls ?? null,
          tool_call_id: message.toolCallId ?? null,
          agent_id: agent.id,
          created_at: at,
        }),
      );
      return record;
    },
    commit: async (): Promise<void> => {
      const outcomes = await store.transact(statements);
      for (const { at: index, event } of events) {
        hub.publish(agent.user_id, event.type, { id: numberOf(outcomes[index]), ...event });
      }
    },
  };
  return record;
};

export type AgentRecord = ReturnType<typeof createRecord>;

const numberOf = (outcome: Outcome | undefined): number => {
  const [row] = (outcome?.rows ?? []) as { seq: number }[];
  return row?.seq ?? 0;
};
