import { sql } from 'kysely';
import type { AuditStep } from '../../kernel/contract/audit.js';
import type { Store } from '../../store/store.js';

/**
 * Time after which no further table is checked, in milliseconds. A large table takes as long as it
 * takes.
 */
const BUDGET_MS = 2000;
const SOME = 50;
/** Ours: the failing folders that are shown. */
const SHOWN_FOLDERS = 5;

interface Integrity {
  checked: number;
  /** First damaged table, with SQLite's message. */
  problem: string | null;
  /** True if there was time for all tables. */
  isAll: boolean;
}

/** Queries about the state of the database. */
export const doctorStore = ({ db, look, transact }: Store) => ({
  look,

  /** Writes the audit entry of this check and returns its number. */
  record: async (looked: AuditStep): Promise<number> => {
    await transact([looked]);
    const { number } = await db
      .selectFrom('audit')
      .select('number')
      .where('id', '=', looked.audit.id)
      .executeTakeFirstOrThrow();
    return number;
  },

  integrity: async (): Promise<Integrity> => {
    const end = performance.now() + BUDGET_MS;
    for (let checked = 0, after = ''; ; checked++) {
      if (performance.now() > end) return { checked, problem: null, isAll: false };
      const found = await look('checkTable', { after });
      if (!found) return { checked, problem: null, isAll: true };
      if (found.problem)
        return { checked, problem: `${found.table}: ${found.problem}`, isAll: false };
      after = found.table;
    }
  },

  /** Returns the time at which the newest rows were written, ISO 8601; null if there is none. */
  newest: async (): Promise<string | null> => {
    const [entries, execution] = await Promise.all([
      // Several, because this very check wrote one, with the time of the clock now.
      db.selectFrom('audit').select('at').orderBy('number', 'desc').limit(SOME).execute(),
      db
        .selectFrom('executions')
        .select('created_at as at')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),
    ]);
    const times = [...entries, ...(execution ? [execution] : [])].map(({ at }) => at).sort();
    return times.at(-1) ?? null;
  },

  /** Returns the time at which the first account was made, ISO 8601. */
  begunAt: async (): Promise<string | null> => {
    const first = await db
      .selectFrom('users')
      .select('created_at')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return first?.created_at ?? null;
  },

  /** Counts the messages that were not delivered (`failed`), or may not have been (`unknown`). */
  deadLetters: async (): Promise<{ status: string; count: number }[]> =>
    db
      .selectFrom('sendings')
      .select('status')
      .select((of) => of.fn.countAll<number>().as('count'))
      // These are literals, because otherwise their index is not used.
      .where(sql<boolean>`status IN ('failed', 'unknown') AND status <> 'sent'`)
      .groupBy('status')
      .orderBy('status')
      .execute(),

  /** Lists some folders of the machine whose last scan failed. */
  failingFolders: (): Promise<{ path: string; error: string | null }[]> =>
    db
      .selectFrom('knowledge_folders')
      .select(['path', 'error'])
      .where('error', 'is not', null)
      .limit(SHOWN_FOLDERS)
      .execute(),

  /** Lists some mailboxes that are watched and were not reached since a time. */
  unreachedMailboxes: (since: string): Promise<UnreachedMailbox[]> =>
    db
      .selectFrom('mail_accounts')
      .select(['address', 'error'])
      .where('watch', '=', 1)
      .where('status', '!=', 'ok')
      .where(({ fn, eb }) => eb(fn.coalesce('last_sync_at', 'created_at'), '<', since))
      .limit(SHOWN_FOLDERS)
      .execute(),
});

/** A mailbox that is watched and cannot be reached. */
export interface UnreachedMailbox {
  address: string;
  error: string | null;
}

export type DoctorStore = ReturnType<typeof doctorStore>;
