import { newestFirst } from '../store/page.js';
import type { Store } from '../store/store.js';
import type { AgentRow, AgentStatus } from '../store/tables/agents.js';
import { agentColumnNames, isUnder } from './rows.js';

export interface AgentFilters {
  limit: number;
  cursor?: string;
  status?: AgentStatus;
  topic?: string;
  hookId?: string;
  executionId?: string;
  sessionId?: string;
  /** The agent with this id, and all its sub-agents. */
  rootId?: string;
  untrusted?: boolean;
}

export const agentsStore = ({ db }: Store) => ({
  list: async (
    userId: string,
    filters: AgentFilters,
  ): Promise<{ rows: AgentRow[]; nextCursor: string | null }> => {
    let query = db.selectFrom('agents').select(agentColumnNames).where('user_id', '=', userId);
    if (filters.status) query = query.where('status', '=', filters.status);
    if (filters.topic !== undefined) query = query.where('topic', '=', filters.topic);
    if (filters.hookId !== undefined) query = query.where('hook_id', '=', filters.hookId);
    if (filters.sessionId !== undefined) query = query.where('session_id', '=', filters.sessionId);
    const { rootId } = filters;
    if (rootId !== undefined) {
      query = query.where((of) =>
        of.or([of('id', '=', rootId), of('root_id', '=', rootId), isUnder(rootId)]),
      );
    }
    if (filters.executionId !== undefined) {
      query = query.where('execution_id', '=', filters.executionId);
    }
    if (filters.untrusted !== undefined) {
      query = query.where('untrusted', '=', filters.untrusted ? 1 : 0);
    }
    return newestFirst(query, filters);
  },
});

export type AgentsStore = ReturnType<typeof agentsStore>;
