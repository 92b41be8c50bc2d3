import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { changeInSteps } from '../store/rows.js';
import type { Store } from '../store/store.js';

interface DeletionDeps {
  store: Store;
  /** Statements that give the values of the credentials another owner. */
  resealed(from: string, to: string): Promise<Statement[]>;
}

export interface OrgDeletionPlan {
  orgId: string;
  /** Who gets the resources. Null deletes them. */
  toUserId: string | null;
}

/** Rows per transaction, so that other writes continue. */
const STEP = 500;
/** An entry may have many chunks. */
const ENTRIES = 20;

/** With many rows. What belongs to them is deleted with them. */
const LARGE = [
  ...['agents', 'sessions', 'approvals', 'operations', 'pipeline_runs', 'reader_tasks'],
  ...['research_jobs', 'sendings', 'outgoing_events'],
];

/** Likewise, but found by what they belong to. */
const CHILDREN = [
  { table: 'executions', parent: 'hook_id', parents: 'hooks' },
  { table: 'recurring_runs', parent: 'recurring_task_id', parents: 'recurring_tasks' },
];

/** Everything else is deleted with the account. */
const SMALL = [
  ...['credentials', 'hooks', 'webhooks', 'pipeline_templates', 'experts'],
  ...['documents', 'recurring_tasks', 'tasks', 'task_tags', 'task_words', 'task_blockers'],
  ...['memories', 'memory_words', 'research_sources'],
];

/** Names are unique per user. A name that the recipient has gets the end of the ID. */
const NAMED = ['credentials', 'pipeline_templates', 'experts'];

/** Of the same content the recipient keeps one. */
const SAME: [table: string, column: string][] = [
  ['documents', 'sha256'],
  ['memories', 'text'],
  ['tasks', 'effect_id'],
  ['research_jobs', 'effect_id'],
];

const sql = (text: string, ...parameters: unknown[]): Statement => ({ sql: text, parameters });

/** Continues after an interruption. The account of the organization must be disabled. */
export const moveOrDelete = async (
  { store, resealed }: DeletionDeps,
  plan: OrgDeletionPlan,
): Promise<void> => {
  const { orgId, toUserId } = plan;
  const inSteps = (statements: Statement[], step = STEP) =>
    changeInSteps(store, statements, { step });
  const some = (table: string, step = STEP) =>
    `SELECT id FROM ${table} WHERE user_id = ? ORDER BY id LIMIT ${step}`;
  if (toUserId === null) {
    await changeChildren(store, plan);
    for (const table of [...LARGE, 'knowledge_entries']) {
      await inSteps([sql(`DELETE FROM ${table} WHERE id IN (${some(table)})`, orgId)]);
    }
    return;
  }
  // Others may have triggered them, and the recipient may be allowed more.
  await inSteps([endExecutions(orgId, 'AND e.boot IS NULL')]);
  await store.transact([
    // Their names begin with the slug of the organization.
    ...['models', 'mcp_servers'].map((table) =>
      sql(`DELETE FROM ${table} WHERE user_id = ?`, orgId),
    ),
    sql('UPDATE agents SET tools = NULL WHERE user_id = ?', orgId),
    sql(
      `DELETE FROM knowledge_entries WHERE user_id = ? AND source_type = 'document' AND source_id IN (
         SELECT d.id FROM documents AS d JOIN documents AS own ON own.sha256 = d.sha256
         WHERE d.user_id = ? AND own.user_id = ?)`,
      orgId,
      orgId,
      toUserId,
    ),
    ...SAME.map(([table, column]) => withoutSame(table, column, { orgId, toUserId })),
    sameSources(orgId, toUserId),
  ]);
  for (const table of LARGE) {
    await inSteps([
      sql(`UPDATE ${table} SET user_id = ? WHERE id IN (${some(table)})`, toUserId, orgId),
    ]);
  }
  await changeChildren(store, plan);
  const entries = some('knowledge_entries', ENTRIES);
  await inSteps(
    [
      ...['knowledge_chunks', 'knowledge_tags'].map((table) =>
        sql(`UPDATE ${table} SET user_id = ? WHERE entry_id IN (${entries})`, toUserId, orgId),
      ),
      // The search index follows changes of the title. Vectors are made again.
      sql(
        `UPDATE knowledge_entries SET user_id = ?, title = title, embedder = NULL
         WHERE id IN (${entries})`,
        toUserId,
        orgId,
      ),
    ],
    ENTRIES,
  );
  const credentials = await resealed(orgId, toUserId);
  const names = NAMED.map((table) =>
    sql(
      `UPDATE ${table} SET name = substr(name, 1, 90) || '-' || substr(id, -6)
       WHERE user_id = ? AND name IN (SELECT name FROM ${table} WHERE user_id = ?)`,
      orgId,
      toUserId,
    ),
  );
  const owned = SMALL.map((table) =>
    sql(`UPDATE ${table} SET user_id = ? WHERE user_id = ?`, toUserId, orgId),
  );
  // Others may have created them, and the recipient may be allowed more.
  const harmless = [
    ...['hooks', 'webhooks'].map((table) => `UPDATE ${table} SET enabled = 0`),
    'UPDATE recurring_tasks SET enabled = 0, next_run_at = NULL',
    'UPDATE memories SET confirmed = 0',
    'DELETE FROM approval_grants',
  ].map((text) => sql(`${text} WHERE user_id = ?`, orgId));
  // Those under way are not tried again.
  const last = endExecutions(orgId);
  await store.transact([last, ...harmless, ...names, ...owned, ...credentials]);
};

const endExecutions = (orgId: string, which = ''): Statement =>
  sql(
    `UPDATE executions SET run_at = NULL, boot = NULL, error = ?,
       status = CASE WHEN started_at IS NULL THEN 'skipped' ELSE 'error' END,
       finished_at = (SELECT disabled_at FROM users WHERE id = ?)
     WHERE id IN (
       SELECT e.id FROM executions AS e JOIN hooks AS h ON h.id = e.hook_id
       WHERE h.user_id = ? AND e.run_at IS NOT NULL ${which} LIMIT ${STEP})`,
    'the organization was deleted. Replay the execution if needed',
    orgId,
    orgId,
  );

const changeChildren = async (
  { transact }: Store,
  { orgId, toUserId }: OrgDeletionPlan,
): Promise<void> => {
  const idsOf = async (statement: Statement): Promise<string[]> => {
    const [result] = await transact([statement]);
    return (result?.rows ?? []).map((row) => String(Object(row).id)).sort();
  };
  for (const { table, parent, parents } of CHILDREN) {
    const change = toUserId === null ? `DELETE FROM ${table}` : `UPDATE ${table} SET user_id = ?`;
    const next = `${change} WHERE id IN (SELECT id FROM ${table}
      WHERE ${parent} = ? AND id > ? ORDER BY id LIMIT ${STEP}) RETURNING id`;
    for (const id of await idsOf(sql(`SELECT id FROM ${parents} WHERE user_id = ?`, orgId))) {
      let done: string[] = [];
      do {
        const owner = toUserId === null ? [] : [toUserId];
        done = await idsOf(sql(next, ...owner, id, done.at(-1) ?? ''));
      } while (done.length === STEP);
    }
  }
};

const withoutSame = (
  table: string,
  column: string,
  { orgId, toUserId }: { orgId: string; toUserId: string },
): TransactionStep =>
  sql(
    `DELETE FROM ${table} WHERE user_id = ?
     AND ${column} IN (SELECT ${column} FROM ${table} WHERE user_id = ?)`,
    orgId,
    toUserId,
  );

const sameSources = (orgId: string, toUserId: string): TransactionStep =>
  sql(
    `DELETE FROM knowledge_entries WHERE user_id = ? AND EXISTS (
       SELECT 1 FROM knowledge_entries AS own WHERE own.user_id = ?
       AND own.source_type = knowledge_entries.source_type
       AND own.source_id = knowledge_entries.source_id)`,
    orgId,
    toUserId,
  );
