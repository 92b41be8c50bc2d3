import { once } from 'node:events';
import { startApp, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';

/** A daemon with operations that wait until they are released or cancelled. */
export const openApiStage = async () => {
  const app = await startApp({ config: { registration: 'open' } });
  const owner = await app.register('owner');
  let release: () => void = () => undefined;
  let aborted = 0;
  const waiting = inside(app.app).operations.register<object, number>({
    ...{ kind: 'test.wait', isResumable: true, isAdmins: false },
    run: async ({ commit, signal }) => {
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const progress = { done: 1, total: 2, unit: 'steps', note: '1 done' };
      await commit([], { checkpoint: 1, progress });
      const never = once(signal, 'abort').then(() => {
        aborted++;
        throw signal.reason;
      });
      await Promise.race([released, never]);
      return { status: 'completed', result: { steps: 2 } };
    },
  });
  const ask = (method: string, path: string, token = owner.token) =>
    app.call(method, `/api/operations${path}`, { token });
  return {
    app,
    owner,
    ask,
    release: () => release(),
    /** Number of aborted operations. */
    aborted: () => aborted,
    begin: () =>
      waiting.begin(
        {
          ...{ userId: owner.id, title: 'Waiting', input: {} },
          ...{ resource: { kind: 'hook', id: 'hook_1' }, progress: { total: 2, unit: 'steps' } },
        },
        [],
      ),
    running: (id: string) =>
      until(
        () => ask('GET', `/${id}`),
        ({ body }) => body.progress.done === 1,
      ),
  };
};

export type ApiStage = Awaited<ReturnType<typeof openApiStage>>;
