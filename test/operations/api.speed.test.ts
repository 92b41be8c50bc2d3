import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../harness/app.js';
import { type ApiStage, openApiStage } from './apistage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the API of operations', () => {
  let stage: ApiStage;
  before(async () => {
    stage = await openApiStage();
  });
  after(() => stage.app.stop());

  it('is cancelled within a second, once', async () => {
    const { id } = await stage.begin();
    await stage.running(id);
    const before = stage.aborted();
    const since = performance.now();
    const { status, body } = await stage.ask('POST', `/${id}/cancel`);
    expect([status, body.status]).to.equal([200, 'cancelled']);
    expect(body.progress.done).to.equal(1);
    await untilMatches(async () => stage.aborted(), before + 1);
    expect(performance.now() - since).to.be.below(1000);
    const again = await stage.ask('POST', `/${id}/cancel`);
    expect([again.status, again.body.message]).to.equal([
      409,
      'The operation has already ended with status cancelled',
    ]);
    await until(
      () => stage.app.app.store.db.selectFrom('jobs').select('id').where('ref', '=', id).execute(),
      (jobs) => jobs.length === 0,
    );
    expect((await stage.ask('GET', `/${id}`)).body.status).to.equal('cancelled');
  });
});
