import { sql } from 'kysely';
import type { Log } from '../kernel/log.js';
import type { OperationBeginner } from '../operations/module.js';
import type { Store } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import type { Embedders } from './embedders/registry.js';
import { EMBED_KIND } from './embedoperation.js';
import { type EmbedStore, isWaiting } from './embedqueries.js';
import type { EmbedQueue } from './embedqueue.js';
import { embedSteps } from './embedsteps.js';

export interface EmbedScheduler {
  wanted(userId: string): void;
  reconcile(): Promise<void>;
  start(): Promise<void>;
}

interface SchedulerDeps {
  store: Store;
  log: Log;
  embedders: Embedders;
  vectors: EmbedStore;
  turns: EmbedQueue;
  operations: OperationBeginner<object>;
}

/** Each user has at most one operation, which also processes texts that arrive while it runs. */
export const createEmbedScheduler = (deps: SchedulerDeps): EmbedScheduler => {
  const { log, embedders, vectors, turns } = deps;

  const wanted = (userId: string): void => {
    if (!embedders.inForce() || turns.tell(userId)) return;
    turns.expect(userId, null);
    beginIfNeeded(deps, userId).catch((error) => {
      turns.leave(userId, null);
      log.warn({ userId, error: String(error) }, 'embedding could not be started');
    });
  };

  let isStarted = false;

  const reconcile = async (): Promise<void> => {
    embedders.changed();
    if (!isStarted) return;
    const embedder = embedders.inForce();
    if (!embedder) return;
    const id = await embedders.idOf(embedder);
    if ((await vectors.key()) !== embedder.key) await vectors.begin(id, embedder.key);
    for (const userId of await vectors.waitingUsers()) wanted(userId);
  };

  return {
    wanted,
    reconcile,
    start: async () => {
      isStarted = true;
      for (const userId of await vectors.waitingUsers()) {
        const running = await findOpenOperation(deps.store, userId);
        if (running) turns.expect(userId, running.id);
      }
      await reconcile();
    },
  };
};

/**
 * Starts an operation only if there is work: another operation may have processed the new texts, or
 * an English embedder skips them.
 */
const beginIfNeeded = async (deps: SchedulerDeps, userId: string): Promise<void> => {
  const { turns } = deps;
  do {
    if (await hasWork(deps, userId)) return turns.expect(userId, await begin(deps, userId));
  } while (turns.takeNews(userId));
  turns.leave(userId, null);
};

const hasWork = async (
  { store, embedders, vectors }: SchedulerDeps,
  userId: string,
): Promise<boolean> => {
  const embedder = embedders.inForce();
  if (!embedder || !(await isWaiting(store, userId, { isEnglish: false }))) return false;
  const id = await embedders.idOf(embedder);
  if ((await vectors.key()) !== embedder.key || (await vectors.hasOthers(userId, id))) return true;
  if (await isWaiting(store, userId, embedder)) return true;
  await store.transact([embedSteps.skipOthers(userId, { ...embedder, id })]);
  return isWaiting(store, userId, embedder);
};

const begin = async ({ embedders, operations }: SchedulerDeps, userId: string): Promise<string> => {
  const { id } = await operations.begin(
    {
      userId,
      resource: { kind: 'user', id: userId },
      title: `Embedding of your knowledge with ${embedders.inForce()?.name}`.slice(0, 200),
      input: {},
      progress: { total: null, unit: 'chunks' },
    },
    [],
  );
  return id;
};

const findOpenOperation = ({ db }: Store, userId: string) =>
  db
    .selectFrom('operations')
    .select('id')
    .where(visibleTo(userId))
    .where('kind', '=', EMBED_KIND)
    // The index of open operations contains exactly this condition.
    .where(sql<boolean>`status IN ('queued', 'running')`)
    .executeTakeFirst();
