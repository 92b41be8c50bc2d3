import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MANY = 400_000;
const LOOKS = 15;
/** Where all of them are looked at it is twenty times and more. */
const FACTOR = 8;

const MADE = `
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
  INSERT INTO sendings (id, user_id, webhook_id, cause_id, kind, content, status, attempts,
    created_at, finished_at)
  SELECT printf('sending_%026d', i), w.user_id, w.id, 'event_' || i, 'hook.executed',
    json_object('type', 'hook.executed', 'timestamp', w.created_at, 'data', json('{}')), 'sent', 1,
    w.created_at, w.created_at
  FROM n JOIN webhooks AS w ON w.id = ?`;

describe('a webhook that was sent much', () => {
  const stage = openForSuite(lab, openStage);

  /** What a look takes, the middle of some; in milliseconds. */
  const timeOf = async (path: string): Promise<number> => {
    const times: number[] = [];
    for (let look = 0; look < LOOKS; look++) {
      const since = performance.now();
      expect((await stage.ask('GET', path)).status).to.equal(200);
      times.push(performance.now() - since);
    }
    return times.toSorted((a, b) => a - b)[LOOKS >> 1] ?? 0;
  };

  it('makes neither its own pages slow nor those of the others', async () => {
    const { id: busy } = await stage.webhook({ enabled: false });
    const { id: calm } = await stage.webhook({ enabled: false });
    const pages = [busy, calm].map((id) => `/api/webhooks/${id}/deliveries?limit=1`);
    const before: number[] = [];
    for (const page of pages) before.push(await timeOf(page));
    await stage.test.app.store.transact([{ sql: MADE, parameters: [MANY, busy] }]);
    for (const [at, page] of pages.entries()) {
      const factor = (await timeOf(page)) / (before[at] ?? 1);
      expect(factor, `${factor} times as long`).to.be.below(FACTOR);
    }
    expect((await stage.deliveries(busy, '?limit=2')).length).to.equal(2);
  });
});
