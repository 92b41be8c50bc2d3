import { sql } from 'kysely';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Input } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page } from '../../store/page.js';
import { deleteRows, selectRows } from '../../store/rows.js';
import { isCommitted, type Store, statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import {
  type ApprovalRow,
  type GrantRow,
  type GrantScope,
  grantTable,
} from '../../store/tables/permissions.js';
import { visibleTo } from '../../store/visible.js';
import type { grants as contract } from './contract.js';
import {
  buildGrantTerms,
  isGrantable,
  type JudgedCall,
  MAX_GRANTS,
  matchesGrant,
} from './rules.js';

const VALID_MS = 30 * 24 * 3600 * 1000;

type CallingAgent = Pick<AgentRow, 'id' | 'user_id' | 'session_id' | 'hook_id' | 'parent_id'>;

/** Name of the hook or title of the conversation: one of them is null. */
export type NamedGrant = GrantRow & { hook_name: string | null; session_title: string | null };

export const createGrants = ({ store, clock }: { store: Store; clock: Clock }) => {
  const { db, transact } = store;
  const inForce = () => sql<boolean>`approval_grants.expires_at > ${iso(clock.now())}`;

  /** Returns the conversations of the agent and of its ancestors. */
  const sessionsOf = async ({ id, session_id, parent_id }: CallingAgent): Promise<Set<string>> => {
    if (parent_id === null) return new Set([session_id]);
    const { rows } = await sql<{ session_id: string }>`
      WITH RECURSIVE above (parent_id, session_id) AS (
        SELECT parent_id, session_id FROM agents WHERE id = ${id}
        UNION ALL
        SELECT a.parent_id, a.session_id FROM above JOIN agents AS a ON a.id = above.parent_id)
      SELECT session_id FROM above`.execute(db);
    return new Set(rows.map((row) => row.session_id));
  };

  return {
    /** Only valid grants, newest first. */
    list: (
      userId: string,
      filters: Input<typeof contract.list>['query'],
    ): Promise<Page<NamedGrant>> => {
      const { scope, tool, hookId: hook_id, sessionId: session_id } = filters;
      const values = { scope, tool, hook_id, session_id };
      const rows = selectRows(db, grantTable, values, visibleTo(userId), inForce());
      const named = rows.select((of) => [
        of
          .selectFrom('hooks as h')
          .whereRef('h.id', '=', 'approval_grants.hook_id')
          .select('h.name')
          .as('hook_name'),
        of
          .selectFrom('sessions as s')
          .whereRef('s.id', '=', 'approval_grants.session_id')
          .select('s.title')
          .as('session_title'),
      ]);
      return newestFirst<NamedGrant>(named, filters);
    },

    /** Returns false if the user has no such grant. */
    delete: (userId: string, id: string, step: TransactionStep): Promise<boolean> => {
      const own = deleteRows(db, grantTable, { id }).where(visibleTo(userId)).where(inForce());
      return isCommitted(transact([statement(own, 1), step]));
    },

    covering: async (agent: CallingAgent, call: JudgedCall): Promise<GrantRow | null> => {
      if (!isGrantable(call)) return null;
      const values = { tool: call.tool.skillId, action: call.tool.name };
      const rows = selectRows(db, grantTable, values, visibleTo(agent.user_id), inForce());
      const fitting = (await rows.execute()).filter((grant) => matchesGrant(grant, call));
      if (fitting.length === 0) return null;
      const sessions = await sessionsOf(agent);
      const isBoundTo = ({ hook_id, session_id }: GrantRow): boolean =>
        hook_id === null ? sessions.has(session_id ?? '') : hook_id === agent.hook_id;
      return fitting.find(isBoundTo) ?? null;
    },

    /** Counts a use. The statement throws Unmet if the grant is no longer valid. */
    use: ({ id, user_id }: Pick<GrantRow, 'id' | 'user_id'>): Statement =>
      statement(
        db
          .updateTable('approval_grants')
          .set(({ eb }) => ({ uses: eb('uses', '+', 1), last_used_at: iso(clock.now()) }))
          .where(visibleTo(user_id))
          .where('id', '=', id)
          .where(inForce()),
        1,
      ),

    /**
     * `host` applies to the hook of the calling agent if it has one, everything else to its
     * conversation. Throws Unmet if the agent is gone or the user has too many grants.
     */
    insert: (approval: ApprovalRow, scope: GrantScope): Statement => {
      const now = clock.now();
      const { user_id, tool, action, tool_digest, agent_id, id: approval_id } = approval;
      const { origin, method, path_prefix } = buildGrantTerms(
        { skillId: tool, name: action },
        JSON.parse(approval.arguments),
      );
      return {
        sql: `INSERT INTO approval_grants (id, user_id, scope, tool, action, tool_digest, origin,
            method, path_prefix, hook_id, session_id, agent_id, approval_id, created_at, expires_at)
          SELECT @id, @user_id, @scope, @tool, @action, @tool_digest, @origin, @method,
            @path_prefix, iif(@scope = 'host', a.hook_id, NULL),
            iif(@scope = 'host' AND a.hook_id IS NOT NULL, NULL, a.session_id),
            a.id, @approval_id, @created_at, @expires_at
          FROM agents AS a WHERE a.id = @agent_id AND a.user_id = @user_id
            AND (SELECT count(*) FROM approval_grants
              WHERE user_id = @user_id AND expires_at > @created_at) < ${MAX_GRANTS}`,
        parameters: [
          {
            id: mint('grant', now),
            user_id,
            scope,
            tool,
            action,
            tool_digest,
            origin,
            method,
            path_prefix,
            agent_id,
            approval_id,
            created_at: iso(now),
            expires_at: iso(now + VALID_MS),
          },
        ],
        expect: 1,
      };
    },
  };
};

export type Grants = ReturnType<typeof createGrants>;

/** Deletes the grants for the agents of a hook. */
export const voidHookGrants = ({ db }: Store, hookId: string): Statement =>
  statement(deleteRows(db, grantTable, { hook_id: hookId }));

/** Returns the tools that are granted to the agents of a hook, or of a conversation. */
export const grantedTools = async (
  { db }: Store,
  { userId, ...bound }: { userId: string; hookId: string | null; sessionId: string | null },
  now: string,
): Promise<string[]> => {
  const own = selectRows(db, grantTable, {}, visibleTo(userId));
  const rows = await own.where('expires_at', '>', now).execute();
  const isBoundTo = ({ hook_id, session_id }: GrantRow): boolean =>
    hook_id === null ? session_id === bound.sessionId : hook_id === bound.hookId;
  return rows.filter(isBoundTo).map(({ tool, action }) => `${tool}.${action}`);
};
