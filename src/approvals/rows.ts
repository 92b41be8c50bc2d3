import { newestFirst } from '../store/page.js';
import type { Store } from '../store/store.js';
import type { ApprovalRow, ApprovalStatus } from '../store/tables/permissions.js';

const columns = [
  'id',
  'user_id',
  'agent_id',
  'call_id',
  'tool',
  'action',
  'arguments',
  'digest',
  'reason',
  'untrusted',
  'status',
  'created_at',
  'expires_at',
  'decided_at',
  'decided_by',
  'decision_reason',
  'used_at',
] as const;

export interface ApprovalFilters {
  limit: number;
  cursor?: string;
  status?: ApprovalStatus;
  agentId?: string;
}

/** Returns the queries for approvals. */
export const approvalRows = ({ db }: Store) => ({
  /** Returns the approval if it belongs to the user. */
  owned: (userId: string, id: string): Promise<ApprovalRow | undefined> =>
    db
      .selectFrom('approvals')
      .select(columns)
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .executeTakeFirst(),

  list: (
    userId: string,
    filters: ApprovalFilters,
  ): Promise<{ rows: ApprovalRow[]; nextCursor: string | null }> => {
    let query = db.selectFrom('approvals').select(columns).where('user_id', '=', userId);
    if (filters.status) query = query.where('status', '=', filters.status);
    if (filters.agentId !== undefined) query = query.where('agent_id', '=', filters.agentId);
    return newestFirst(query, filters);
  },

  /** Returns the approvals of an agent's calls, by the id of the call. */
  ofCalls: async (agentId: string, callIds: string[]): Promise<Map<string, ApprovalRow>> => {
    if (callIds.length === 0) return new Map();
    const rows = await db
      .selectFrom('approvals')
      .select(columns)
      .where('agent_id', '=', agentId)
      .where('call_id', 'in', callIds)
      .execute();
    return new Map(rows.map((row) => [row.call_id ?? '', row]));
  },

  pendingOf: (agentId: string): Promise<ApprovalRow[]> =>
    db
      .selectFrom('approvals')
      .select(columns)
      .where('agent_id', '=', agentId)
      .where('status', '=', 'pending')
      .execute(),

  /** Returns pending approvals whose time is over. */
  due: (at: string, limit: number): Promise<ApprovalRow[]> =>
    db
      .selectFrom('approvals')
      .select(columns)
      .where('status', '=', 'pending')
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .limit(limit)
      .execute(),
});

export type ApprovalRows = ReturnType<typeof approvalRows>;
