import { sql } from 'kysely';
import type { AuditStep } from '../../kernel/contract/audit.js';
import type { Store } from '../../store/store.js';
import type { MailAccountRow } from '../../store/tables/mail.js';
import { isPerson } from '../../store/visible.js';

/** No further table is checked after this time. A single large table may take longer. */
const BUDGET_MS = 2000;
const SOME = 50;
const MAX_FOLDERS = 5;

interface Integrity {
  checked: number;
  /** The first damaged table, with the message of SQLite. */
  problem: string | null;
  /** False if the time limit was reached. */
  isAll: boolean;
}

export const doctorStore = ({ db, look, transact }: Store) => ({
  look,

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

  /** Time of the newest write, ISO 8601; null if there is none. */
  newest: async (): Promise<string | null> => {
    const [entries, execution] = await Promise.all([
      // Several, since this check itself wrote one with the current time.
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

  /** Time at which the first account was created, ISO 8601. */
  begunAt: async (): Promise<string | null> => {
    const first = await db
      .selectFrom('users')
      .select('created_at')
      .where(isPerson())
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return first?.created_at ?? null;
  },

  /** Messages that were not delivered (`failed`), or may not have been (`unknown`). */
  deadLetters: async (): Promise<{ status: string; count: number }[]> =>
    db
      .selectFrom('sendings')
      .select('status')
      .select((of) => of.fn.countAll<number>().as('count'))
      // Literals, since the index is not used otherwise.
      .where(sql<boolean>`status IN ('failed', 'unknown') AND status <> 'sent'`)
      .groupBy('status')
      .orderBy('status')
      .execute(),

  failingFolders: (): Promise<{ path: string; error: string | null }[]> =>
    db
      .selectFrom('knowledge_folders')
      .select(['path', 'error'])
      .where('error', 'is not', null)
      .limit(MAX_FOLDERS)
      .execute(),

  failingMailboxes: (): Promise<FailingMailbox[]> =>
    db
      .selectFrom('mail_accounts')
      .select(['address', 'status', 'error'])
      .where('status', '!=', 'ok')
      .orderBy('id')
      .limit(MAX_FOLDERS)
      .execute(),
});

export type FailingMailbox = Pick<MailAccountRow, 'address' | 'status' | 'error'>;

export type DoctorStore = ReturnType<typeof doctorStore>;
