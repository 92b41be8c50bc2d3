import { sql } from 'kysely';
import { cutPage, DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import type { Page, PageInput } from '../../store/page.js';
import { selectRows } from '../../store/rows.js';
import type { Store } from '../../store/store.js';
import type { AuditRow } from '../../store/tables/audit.js';
import { type OrgRole, orgMemberTable } from '../../store/tables/orgs.js';

export type NamedAuditRow = Omit<AuditRow, 'mac'> & {
  actor_name: string | null;
  impersonator_name: string | null;
};

const ENTRY = [
  'audit.number',
  'audit.id',
  'audit.at',
  'audit.actor_id',
  'audit.impersonator_id',
  'audit.action',
  'audit.target',
  'audit.outcome',
  'audit.ip',
  'audit.request_id',
  'audit.data',
  'actor.username as actor_name',
  'impersonator.username as impersonator_name',
] as const;

export interface AuditFilter extends PageInput {
  actorId?: string;
  action?: string;
  since?: string;
  until?: string;
  /** ID of the organization that the entries are about. */
  orgId?: string;
}

export const auditStore = ({ db, look }: Store) => ({
  look,

  /** In the order of the chain, since ids are made before their transaction runs. */
  list: async (filter: AuditFilter): Promise<Page<NamedAuditRow>> => {
    const { limit = DEFAULT_LIMIT, cursor, actorId, action, since, until, orgId } = filter;
    let query = db
      .selectFrom('audit')
      .leftJoin('users as actor', 'actor.id', 'audit.actor_id')
      .leftJoin('users as impersonator', 'impersonator.id', 'audit.impersonator_id')
      .select(ENTRY);
    if (cursor !== undefined) {
      const place = db.selectFrom('audit').select('number').where('id', '=', cursor);
      query = query.where('audit.number', '<', place);
    }
    if (actorId !== undefined) query = query.where('audit.actor_id', '=', actorId);
    if (action !== undefined) query = query.where('audit.action', '=', action);
    if (since !== undefined) query = query.where('audit.at', '>=', since);
    if (until !== undefined) query = query.where('audit.at', '<', until);
    if (orgId !== undefined) {
      // Both are as in their indexes. Refused calls of users who are not members are left out.
      query = query
        .where(
          sql<boolean>`(audit.target = ${orgId} AND audit.target GLOB 'org_*'
            OR iif(json_valid(audit.data), json_extract(audit.data, '$.orgId'), NULL) = ${orgId})`,
        )
        .where((of) =>
          of.or([
            of('audit.outcome', '=', 'ok'),
            of(
              'audit.actor_id',
              'in',
              db.selectFrom('org_members').select('user_id').where('org_id', '=', orgId),
            ),
          ]),
        );
    }
    const rows = await query
      .orderBy('audit.number', 'desc')
      .limit(limit + 1)
      .execute();
    return cutPage(rows, limit);
  },

  /** Null if the user is not a member. */
  orgRole: async (userId: string, orgId: string): Promise<OrgRole | null> => {
    const own = selectRows(db, orgMemberTable, { org_id: orgId, user_id: userId });
    return (await own.executeTakeFirst())?.role ?? null;
  },
});

export type AuditStore = ReturnType<typeof auditStore>;
