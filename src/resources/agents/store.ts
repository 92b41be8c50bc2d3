import { sql } from 'kysely';
import { agentColumns } from '../../runtime/agents/rows.js';
import { newestFirst } from '../../store/page.js';
import type { Store } from '../../store/store.js';
import type { AgentRow, AgentStatus } from '../../store/tables/agents.js';

export interface AgentFilters {
  limit: number;
  cursor?: string;
  status?: AgentStatus;
  topic?: string;
  hookId?: string;
  executionId?: string;
  sessionId?: string;
  /** It, and all under it. */
  rootId?: string;
  untrusted?: boolean;
}

export const agentsStore = ({ db }: Store) => ({
  list: async (
    userId: string,
    filters: AgentFilters,
  ): Promise<{ rows: AgentRow[]; nextCursor: string | null }> => {
    let query = db.selectFrom('agents').select(agentColumns).where('user_id', '=', userId);
    if (filters.status) query = query.where('status', '=', filters.status);
    if (filters.topic !== undefined) query = query.where('topic', '=', filters.topic);
    if (filters.hookId !== undefined) query = query.where('hook_id', '=', filters.hookId);
    if (filters.sessionId !== undefined) query = query.where('session_id', '=', filters.sessionId);
    const { rootId } = filters;
    if (rootId !== undefined) {
      query = query.where((of) =>
        of.or([of('root_id', '=', rootId), of('id', 'in', under(userId, rootId))]),
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

/** An agent and all that it began, and what those did: it need not be the first of its tree. */
const under = (userId: string, id: string) => sql<string>`(
  WITH RECURSIVE under(id) AS (
    SELECT id FROM agents WHERE id = ${id} AND user_id = ${userId}
    UNION
    SELECT agents.id FROM agents JOIN under ON agents.parent_id = under.id
  )
  SELECT id FROM under
)`;

export type AgentsStore = ReturnType<typeof agentsStore>;
