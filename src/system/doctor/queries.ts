import type { AuditStep } from '../../kernel/contract/audit.js';
import type { Store } from '../../store/store.js';

/** Of a table: a large one takes as long as it takes, so that none is begun after this. */
const BUDGET_MS = 2000;
const SOME = 50;

interface Integrity {
  checked: number;
  /** The first that is not whole, as SQLite says it. */
  problem: string | null;
  /** There was time for all tables. */
  isAll: boolean;
}

/** What the database knows about itself. */
export const doctorStore = ({ db, look, transact }: Store) => ({
  look,

  /** The number of the entry that this look left. */
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

  /** When the newest rows were written, ISO 8601; null where there is none. */
  newest: async (): Promise<string | null> => {
    const [entries, execution] = await Promise.all([
      // Several: this very look left one, with the clock as it is now.
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

  /** When there was the first account, ISO 8601. */
  begunAt: async (): Promise<string | null> => {
    const first = await db
      .selectFrom('users')
      .select('created_at')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return first?.created_at ?? null;
  },

  /** What was not delivered, or may not have been. */
  deadLetters: async (): Promise<number> => {
    const { count } = await db
      .selectFrom('sendings')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('status', 'in', ['failed', 'unknown'])
      .executeTakeFirstOrThrow();
    return count;
  },
});

export type DoctorStore = ReturnType<typeof doctorStore>;
