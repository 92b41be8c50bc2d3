import { systemClock } from '../../src/kernel/clock.js';
import { createHttp } from '../../src/kernel/http.js';
import { createLog } from '../../src/kernel/log.js';
import { openOperations } from '../../src/operations/module.js';
import { createHub } from '../../src/realtime/hub.js';
import { openScratch, type Scratch } from '../store/scratch.js';

export const OWNER = 'user_owner';

/** The operations over a database of their own, without the rest of the daemon. */
export interface OperationsStage extends Scratch {
  hub: ReturnType<typeof createHub>;
  /** The publications about operations so far, as the socket sends them. */
  published: { status: string; progress: { done: number } | null; result: unknown }[];
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
  return {
    ...scratch,
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
