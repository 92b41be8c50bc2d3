import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { OperationBeginner } from '../../src/operations/module.js';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the API of operations', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  let waiting: OperationBeginner<object>;
  let aborted = 0;

  before(async () => {
    app = await startApp({ config: { registration: 'open' } });
    owner = await app.register('owner');
    waiting = inside(app.app).operations.register<object, number>({
      ...{ kind: 'test.wait', isResumable: true, isAdmins: false },
      run: async ({ commit, signal }) => {
        const progress = (done: number) => ({
          done,
          total: 2,
          unit: 'steps',
          note: `${done} done`,
        });
        await commit([], { checkpoint: 1, progress: progress(1) });
        await once(signal, 'abort');
        aborted++;
        throw signal.reason;
      },
    });
  });
  after(() => app.stop());

  const begin = () =>
    waiting.begin(
      {
        ...{ userId: owner.id, title: 'Waiting', input: {} },
        ...{ resource: { kind: 'hook', id: 'hook_1' }, progress: { total: 2, unit: 'steps' } },
      },
      [],
    );
  const ask = (method: string, path: string, token = owner.token) =>
    app.call(method, `/api/operations${path}`, { token });
  const running = (id: string) =>
    until(
      () => ask('GET', `/${id}`),
      ({ body }) => body.progress.done === 1,
    );

  it('is cancelled within a second, once', async () => {
    const { id } = await begin();
    await running(id);
    const before = aborted;
    const since = performance.now();
    const { status, body } = await ask('POST', `/${id}/cancel`);
    expect([status, body.status]).to.equal([200, 'cancelled']);
    expect(body.progress.done).to.equal(1);
    await untilMatches(async () => aborted, before + 1);
    expect(performance.now() - since).to.be.below(1000);
    const again = await ask('POST', `/${id}/cancel`);
    expect([again.status, again.body.message]).to.equal([
      409,
      'The operation has already ended with status cancelled',
    ]);
    await until(
      () => app.app.store.db.selectFrom('jobs').select('id').where('ref', '=', id).execute(),
      (jobs) => jobs.length === 0,
    );
    expect((await ask('GET', `/${id}`)).body.status).to.equal('cancelled');
  });
});
