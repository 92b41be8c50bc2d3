import { sql } from 'kysely';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import { type RunUsage, StageError } from './outcome.js';
import type { LoadedRun } from './run.js';
import type { SerializeByRun } from './turns.js';

export interface Reservation {
  maxTokens: number;
  maxCostUsd: number;
}

/** A run shares its budget with its parent runs. */
export interface Budget {
  /**
   * Reserves the wanted amount, or the rest of the budget. Resolves to null if other stages have
   * reserved the rest. Throws StageError if the budget is used up.
   */
  reserve(run: LoadedRun, wanted: Reservation): Promise<Reservation | null>;
  /** Serializes reservations in a run and its parents. */
  inTurn<T>(run: LoadedRun, work: () => Promise<T>): Promise<T>;
  /** Adds the usage to a run and its parents. */
  spend(run: LoadedRun, usage: RunUsage): TransactionStep;
  spent(run: LoadedRun, usage: RunUsage): Promise<unknown>;
}

const BUDGET_EXHAUSTED = 'The run has reached its token or cost limit';

export const createBudget = ({ db, transact }: Store, inTurn: SerializeByRun): Budget => ({
  reserve: async ({ row }, wanted) => {
    let { maxTokens: tokens, maxCostUsd: usd } = wanted;
    let isReserved = false;
    const { rows } = await usedIn(row.id).execute(db);
    for (const { used, reserved, most } of rows.map(readBudget)) {
      if (used.tokens >= most.tokens || used.costUsd >= most.costUsd)
        throw new StageError(BUDGET_EXHAUSTED);
      tokens = Math.min(tokens, most.tokens - used.tokens - reserved.tokens);
      usd = Math.min(usd, most.costUsd - used.costUsd - reserved.costUsd);
      isReserved ||= reserved.tokens > 0 || reserved.costUsd > 0;
    }
    if (tokens >= 1 && usd > 0) return { maxTokens: tokens, maxCostUsd: usd };
    if (isReserved) return null;
    throw new StageError(BUDGET_EXHAUSTED);
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

/** Lists a run and its parents as `up`. */
const upFrom = (runId: string) => sql`WITH RECURSIVE up (id, parent_id) AS (
  SELECT id, parent_id FROM pipeline_runs WHERE id = ${runId}
  UNION ALL
  SELECT r.id, r.parent_id FROM pipeline_runs AS r JOIN up ON r.id = up.parent_id)`;

/** The run of an item has no limits of its own. */
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
