import { type TestApp, until } from './app.js';
import { inside } from './inside.js';

/** Starts an operation with one step. Resolves to its id. */
const begin = async (
  { app }: TestApp,
  userId: string,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<string> => {
  const kind = inside(app).operations.register<object, number>({
    ...{ kind: 'test.wait', isResumable: true, isAdmins: false },
    run: async ({ commit, signal }) => {
      const progress = { done: 1, total: 2, unit: 'steps', note: '1 done' };
      await commit([], { checkpoint: 1, progress });
      await run(signal);
      return { status: 'completed', result: {} };
    },
  });
  const { id } = await kind.begin(
    {
      ...{ userId, title: 'Waiting', input: {} },
      ...{ resource: { kind: 'user', id: userId }, progress: { total: 2, unit: 'steps' } },
    },
    [],
  );
  return id;
};

/** An operation that runs until it is cancelled. Resolves to its id. */
export const waitingOperation = (test: TestApp, userId: string): Promise<string> =>
  begin(
    test,
    userId,
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );

/** A completed operation. Resolves to its id. */
export const seedOperation = async (test: TestApp, userId: string): Promise<string> => {
  const id = await begin(test, userId, async () => undefined);
  const { db } = test.app.store;
  await until(
    () => db.selectFrom('operations').select('status').where('id', '=', id).executeTakeFirst(),
    (row) => row?.status === 'completed',
  );
  return id;
};
