import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, until } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Adds operations to the one that is there. They have no job, so that none of them ends. */
const ADD = `
  WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000)
  INSERT INTO operations
      (id, user_id, kind, resource_kind, resource_id, title, status, input, created_at)
    SELECT 'operation_' || n, user_id, kind, resource_kind, resource_id, title, 'queued', input,
        created_at
      FROM operations, number WHERE kind = 'knowledge.index'`;
const CANCEL = `UPDATE operations SET status = 'cancelled' WHERE status = 'queued'`;

describe('notes that are not indexed yet', () => {
  it('are 10,000 at most', async () => {
    const app = await startApp();
    const { token } = await app.register('ada');
    const add = (text: string) => app.call('POST', '/api/knowledge', { token, body: { text } });
    const entries = async () =>
      (await app.call('GET', '/api/knowledge', { token })).body.entries.map(
        ({ status }: { status: string }) => status,
      );
    const allReady = () => until(entries, (all) => !all.includes('indexing'));
    await add('The first note');
    await allReady();
    await app.app.store.transact([{ sql: ADD, parameters: [] }]);
    const { status, body, headers } = await add('One more note');
    expect([status, body.code, headers['retry-after']]).to.equal([
      ...[409, 'too_many_operations', '5'],
    ]);
    expect(await entries()).to.equal(['ready']);
    await app.app.store.transact([{ sql: CANCEL, parameters: [] }]);
    expect((await add('One more note')).status).to.be.below(300);
    expect(await allReady()).to.equal(['ready', 'ready']);
    await app.stop();
  });
});
