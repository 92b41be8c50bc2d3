import { sql } from 'kysely';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import { type RunUsage, StageFault } from './outcome.js';
import type { LoadedRun } from './run.js';
import type { InTurn } from './service.js';

/** The most that a stage may use up. */
export interface Reservation {
  maxTokens: number;
  maxCostUsd: number;
}

/** The budgets of runs: a run and all that contain it share theirs. */
export interface Budget {
  /**
   * Returns what a stage may use up: what it wants, or the rest of the run if that is less. Null if
   * other stages have reserved the rest, so that there may be some later. Throws StageFault if nothing
   * is left.
   */
  reserve(run: LoadedRun, wanted: Reservation): Promise<Reservation | null>;
  /** Lets one reserve from the budgets of a run, and record that, at a time. */
  inTurn<T>(run: LoadedRun, work: () => Promise<T>): Promise<T>;
  /** Builds the step that adds what was used up to a run and to all that contain it. */
  spend(run: LoadedRun, usage: RunUsage): TransactionStep;
  /** Adds it in a transaction of its own. */
  spent(run: LoadedRun, usage: RunUsage): Promise<unknown>;
}

const USED_UP = 'The run has reached its token or cost limit';

/** Creates the budgets of runs. `inTurn`: turns that nothing else takes. */
export const createBudget = ({ db, transact }: Store, inTurn: InTurn): Budget => ({
  reserve: async ({ row }, wanted) => {
    let { maxTokens: tokens, maxCostUsd: usd } = wanted;
    let isReserved = false;
    const { rows } = await usedIn(row.id).execute(db);
    for (const { used, reserved, most } of rows.map(readBudget)) {
      if (used.tokens >= most.tokens || used.costUsd >= most.costUsd) throw new StageFault(USED_UP);
      tokens = Math.min(tokens, most.tokens - used.tokens - reserved.tokens);
      usd = Math.min(usd, most.costUsd - used.costUsd - reserved.costUsd);
      isReserved ||= reserved.tokens > 0 || reserved.costUsd > 0;
    }
    if (tokens >= 1 && usd > 0) return { maxTokens: tokens, maxCostUsd: usd };
    if (isReserved) return null;
    throw new StageFault(USED_UP);
  },
  inTurn: ({ row }, work) => inTurn(row.root_id ?? row.id, work),
  spend: ({ row }, usage) => spendStep(db, row.id, usage),
  spent: ({ row }, usage) => transact([spendStep(db, row.id, usage)]),
});

const spendStep = (db: Store['db'], runId: string, { tokens, costUsd }: RunUsage): Statement =>
  statement(
    db
      .updateTable('pipeline_runs')
      .set({ tokens: sql`tokens + ${tokens}`, cost_usd: sql`cost_usd + ${costUsd}` })
      .where('id', 'in', sql<string>`(${upFrom(runId)} SELECT id FROM up)`),
  );

/** Names a run and those that contain it `up`. */
const upFrom = (runId: string) => sql`WITH RECURSIVE up (id, parent_id) AS (
  SELECT id, parent_id FROM pipeline_runs WHERE id = ${runId}
  UNION ALL
  SELECT r.id, r.parent_id FROM pipeline_runs AS r JOIN up ON r.id = up.parent_id)`;

/** The budget of a run as it is read. The run of an item has no limits of its own. */
interface BudgetRow {
  tokens: number;
  costUsd: number;
  maxTokens: number | null;
  maxCostUsd: number | null;
  reservedTokens: number;
  reservedUsd: number;
}

const readBudget = (row: BudgetRow): Record<'used' | 'reserved' | 'most', RunUsage> => ({
  used: { tokens: row.tokens, costUsd: row.costUsd },
  reserved: { tokens: row.reservedTokens, costUsd: row.reservedUsd },
  most: {
    tokens: row.maxTokens ?? Number.MAX_SAFE_INTEGER,
    costUsd: row.maxCostUsd ?? Number.MAX_SAFE_INTEGER,
  },
});

/** Selects the budgets of a run and of those that contain it. */
const usedIn = (runId: string) => sql<BudgetRow>`${upFrom(runId)}
  SELECT r.tokens, r.cost_usd AS costUsd,
    json_extract(r.template, '$.limits.maxTokens') AS maxTokens,
    json_extract(r.template, '$.limits.maxCostUsd') AS maxCostUsd,
    (${reservedUnder('reserved_tokens')}) AS reservedTokens,
    (${reservedUnder('reserved_usd')}) AS reservedUsd
  FROM up JOIN pipeline_runs AS r ON r.id = up.id`;

const reservedUnder = (column: 'reserved_tokens' | 'reserved_usd') => sql`
  WITH RECURSIVE under (id) AS (SELECT r.id UNION ALL
    SELECT c.id FROM pipeline_runs AS c JOIN under ON c.parent_id = under.id
    WHERE c.finished_at IS NULL)
  SELECT coalesce(sum(s.${sql.ref(column)}), 0)
  FROM under JOIN pipeline_stages AS s ON s.run_id = under.id`;
