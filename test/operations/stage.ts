import { systemClock } from '../../src/kernel/clock.js';
import { createHttp } from '../../src/kernel/http.js';
import { createLog } from '../../src/kernel/log.js';
import type { OperationKind } from '../../src/operations/kind.js';
import { openOperations } from '../../src/operations/module.js';
import { createHub } from '../../src/realtime/hub.js';
import { until } from '../harness/app.js';
import { openScratch, type Scratch } from '../store/scratch.js';

export interface Counted {
  to: number;
}

interface OperationState {
  status: string;
  checkpoint: string | null;
  result: string | null;
  error: string | null;
}

export const OWNER = 'user_owner';

/** The operations over a database of their own, without the rest of the daemon. */
export interface OperationsStage extends Scratch {
  hub: ReturnType<typeof createHub>;
  /** The publications about operations so far, as the socket sends them. */
  published: { status: string; progress: { done: number } | null; result: unknown }[];
  /** Stored state of an operation. */
  row(id: string): Promise<OperationState>;
  /** The same, once the operation has ended. */
  ended(id: string): Promise<OperationState>;
  /** Opens the module as a start of the daemon does; earlier ones are as if they were killed. */
  open(): ReturnType<typeof openOperations>;
}

export const openOperationsStage = async (): Promise<OperationsStage> => {
  const scratch = await openScratch();
  const { store, home } = scratch;
  const at = '2026-01-01T00:00:00.000Z';
  await store.transact([
    {
      sql: `INSERT INTO users (id, username, username_key, password_hash, role, created_at)
        VALUES (?, 'owner', 'owner', '', 'user', ?)`,
      parameters: [OWNER, at],
    },
  ]);
  const hub = createHub(systemClock);
  const published: OperationsStage['published'] = [];
  hub.listen(OWNER, 'operation.progress', (data) => {
    published.push(JSON.parse(JSON.stringify(data)));
  });
  const http = createHttp({ allow: [] });
  let boots = 0;
  const row = (id: string): Promise<OperationState> =>
    store.db
      .selectFrom('operations')
      .select(['status', 'checkpoint', 'result', 'error'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  return {
    ...scratch,
    row,
    ended: (id) =>
      until(
        () => row(id),
        ({ status }) => status !== 'queued' && status !== 'running',
      ),
    hub,
    published,
    open: () =>
      openOperations(
        {
          ...{ store, home, http, clock: systemClock, log: createLog('silent') },
          boot: `boot_${++boots}`,
        },
        { hub },
      ),
    remove: async () => {
      await http.close();
      await scratch.remove();
    },
  };
};

export const kindOf = (
  run: OperationKind<Counted, number>['run'],
  more: Partial<OperationKind<Counted, number>> = {},
): OperationKind<Counted, number> => ({
  ...{ kind: 'test.count', isResumable: true, isAdmins: false },
  run,
  ...more,
});

export const begin = (
  { register }: ReturnType<OperationsStage['open']>,
  kind: OperationKind<Counted, number>,
  to = 3,
) =>
  register(kind).begin(
    {
      ...{ userId: OWNER, title: 'Counting', input: { to } },
      ...{ resource: { kind: 'user', id: OWNER }, progress: { total: to, unit: 'steps' } },
    },
    [],
  );
