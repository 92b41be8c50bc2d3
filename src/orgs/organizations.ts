import { sql } from 'kysely';
import type { Clock } from '../kernel/clock.js';
import { orgOf } from '../kernel/ids.js';
import type { Organizations } from '../kernel/sharing.js';
import type { Hub } from '../realtime/module.js';
import type { Store } from '../store/store.js';
import type { OrgRole } from '../store/tables/orgs.js';
import type { Tables } from '../store/tables.js';
import { visibleTo } from '../store/visible.js';

/** Whose resources may belong to an organization, by the first part of their IDs. */
const OWNED: Record<string, keyof Tables> = {
  agent: 'agents',
  approval: 'approvals',
  credential: 'credentials',
  document: 'documents',
  entry: 'knowledge_entries',
  execution: 'executions',
  expert: 'experts',
  folder: 'knowledge_folders',
  grant: 'approval_grants',
  hook: 'hooks',
  memory: 'memories',
  operation: 'operations',
  pipeline: 'pipeline_runs',
  readertask: 'reader_tasks',
  recurring: 'recurring_tasks',
  research: 'research_jobs',
  session: 'sessions',
  task: 'tasks',
  template: 'pipeline_templates',
  webhook: 'webhooks',
};

/** Publications that only some members get. */
const ONLY_MANAGERS = 'approval';
const ONLY_NOTIFIED = 'notification';

const WATCH_MS = 500;

interface Member {
  userId: string;
  role: OrgRole;
  isNotified: boolean;
}

export const createOrganizations = ({ store, clock }: { store: Store; clock: Clock }) => {
  const { db } = store;
  const members = new Map<string, { found: Member[]; readAt: number }>();
  const queues = new Map<string, Promise<void>>();

  const readMembers = async (orgId: string): Promise<Member[]> => {
    const rows = await db
      .selectFrom('org_members as m')
      .innerJoin('orgs as o', 'o.id', 'm.org_id')
      .select(['m.user_id', 'm.role', 'o.notify'])
      .where('m.org_id', '=', orgId)
      .orderBy('m.id')
      .execute();
    const isListed = rows.some(({ user_id, notify }) => notifyList(notify).includes(user_id));
    return rows.map(({ user_id: userId, role, notify }) => {
      const isNotified = isListed ? notifyList(notify).includes(userId) : role === 'owner';
      return { userId, role, isNotified };
    });
  };

  const refresh = async (orgId: string): Promise<Member[]> => {
    const readAt = clock.now();
    const found = await readMembers(orgId);
    members.set(orgId, { found, readAt });
    return found;
  };

  const membership: Organizations['membership'] = async (orgId, userId) => {
    const row = await db
      .selectFrom('org_members as m')
      .innerJoin('orgs as o', 'o.id', 'm.org_id')
      .select(['m.role', 'o.approved_at'])
      .where('m.org_id', '=', orgId)
      .where(visibleTo(userId, 'm'))
      .executeTakeFirst();
    return row ? { role: row.role, isApproved: row.approved_at !== null } : null;
  };

  const organizations: Organizations = {
    membership,
    of: async (userId) => {
      const rows = db.selectFrom('org_members').select('org_id').where(visibleTo(userId));
      return (await rows.execute()).map(({ org_id }) => org_id);
    },
    ownerOf: async (resourceId, { path }) => {
      const named = namedTable(resourceId, path);
      const kind = resourceId.split('_', 1)[0] ?? '';
      const table = named ?? (Object.hasOwn(OWNED, kind) && OWNED[kind]);
      if (!table) return null;
      const found = sql<{ user_id: string | null }>`SELECT user_id FROM ${sql.table(table)}
        WHERE ${sql.ref(named ? 'name' : 'id')} = ${resourceId}`;
      const [row] = (await found.execute(db)).rows;
      return row?.user_id ? orgOf(row.user_id) : null;
    },
    watch: (orgId, userId, left) =>
      clock.every(
        WATCH_MS,
        () => {
          membership(orgId, userId).then(
            (found) => found ?? left(),
            () => undefined,
          );
        },
        { ref: false },
      ),
  };

  return {
    organizations,

    /** Publishes what concerns an organization to its members, in order. */
    toMembers:
      (publish: Publish): Publish =>
      (userId, channel, data) => {
        if (orgOf(userId) === null) return publish(userId, channel, data);
        const before = queues.get(userId) ?? Promise.resolve();
        const sent = before
          .then(() => refresh(userId))
          .then(
            (found) => {
              const reached = found.filter((member) => isFor(member, channel));
              for (const [at, member] of reached.entries()) {
                publish(
                  member.userId,
                  channel,
                  channel === ONLY_NOTIFIED ? numbered(data, at) : data,
                );
              }
            },
            // Publications are hints; what they announce is stored.
            () => undefined,
          );
        queues.set(userId, sent);
        void sent.then(() => {
          if (queues.get(userId) === sent) queues.delete(userId);
        });
      },

    /** Members as of the last publication or call, for callers that ask several times per second. */
    lastMembers: (orgId: string): string[] => {
      const { found = [], readAt = 0 } = members.get(orgId) ?? {};
      if (clock.now() - readAt >= WATCH_MS) refresh(orgId).catch(() => undefined);
      return found.map(({ userId }) => userId);
    },
  };
};

/** Table of a resource with a name: `acme/large` is a model, `acme-docs` an MCP server. */
const namedTable = (resourceId: string, path: string): keyof Tables | null => {
  if (resourceId.includes('/')) return 'models';
  return path.startsWith('/api/skills/') && resourceId.includes('-') ? 'mcp_servers' : null;
};

type Publish = Parameters<Hub['follow']>[0];

const isFor = ({ role, isNotified }: Member, channel: string): boolean =>
  channel === ONLY_MANAGERS ? role !== 'member' : channel !== ONLY_NOTIFIED || isNotified;

/** As in `postNotice`. */
const numbered = (data: unknown, at: number): unknown =>
  at > 0 && typeof data === 'object' && data !== null && 'id' in data
    ? { ...data, id: `${data.id}-${at}` }
    : data;

const notifyList = (text: string): string[] => JSON.parse(text);
