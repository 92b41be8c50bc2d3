import { sql } from 'kysely';
import type { Input } from '../kernel/contract/endpoint.js';
import { newestFirst } from '../store/page.js';
import type { Store } from '../store/store.js';
import { type ApprovalRow, approvalTable } from '../store/tables/permissions.js';
import { visibleTo } from '../store/visible.js';
import type { approvals as contract } from './contract.js';

export const approvalRows = ({ db }: Store) => {
  const approvals = () => db.selectFrom('approvals').select(approvalTable.columns);
  // The index of pending approvals takes this condition literally.
  const pending = () => approvals().where(sql<boolean>`status = 'pending'`);

  return {
    owned: (userId: string, id: string): Promise<ApprovalRow | undefined> =>
      approvals().where(visibleTo(userId)).where('id', '=', id).executeTakeFirst(),

    list: (userId: string, filters: Input<typeof contract.list>['query']) => {
      const { status, agentId: agent_id } = filters;
      const query = approvals().where(visibleTo(userId));
      return newestFirst(
        query.where((of) => of.and({ status, agent_id })),
        filters,
      );
    },

    /** By the ID of the call. */
    ofCalls: async (agentId: string, callIds: string[]): Promise<Map<string, ApprovalRow>> => {
      if (callIds.length === 0) return new Map();
      const ofAgent = approvals().where('agent_id', '=', agentId);
      const rows = await ofAgent.where('call_id', 'in', callIds).execute();
      return new Map(rows.map((row) => [row.call_id ?? '', row]));
    },

    pendingOf: (agentId: string): Promise<ApprovalRow[]> =>
      pending().where('agent_id', '=', agentId).execute(),

    /** Returns the IDs of the approvals of one agent step, which share a notification. */
    askedWith: async ({ id, agent_id, created_at }: ApprovalRow): Promise<string[]> => {
      if (agent_id === null) return [id];
      const ofAgent = db.selectFrom('approvals').select('id').where('agent_id', '=', agent_id);
      const rows = await ofAgent.where('created_at', '=', created_at).execute();
      return rows.map((row) => row.id);
    },

    /** Pending approvals that have expired. */
    due: (at: string, limit: number): Promise<ApprovalRow[]> =>
      pending().where('expires_at', '<=', at).orderBy('expires_at').limit(limit).execute(),
    /** Null if no approval is pending. */
    nextExpiry: async (): Promise<string | null> => {
      // The comparison with the empty string makes SQLite search the index.
      const next = await pending()
        .where('expires_at', '>', '')
        .orderBy('expires_at')
        .limit(1)
        .executeTakeFirst();
      return next?.expires_at ?? null;
    },
  };
};

export type ApprovalRows = ReturnType<typeof approvalRows>;
