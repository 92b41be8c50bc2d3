import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { fillTasks, TASKS, taskViewsOf } from '../bench/tasks.js';
import { recordStatements } from '../generated/plans.js';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DIGITS = '0'.repeat(10);

describe('the views of 10,000 tasks', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  before(async () => {
    app = await startApp();
    owner = await app.register('ada');
    const db = new Database(join(app.home, 'adjutant.db'));
    fillTasks(db, { userId: owner.id, digits: DIGITS, at: new Date().toISOString() });
    db.close();
  });
  after(() => app.stop());

  it('are read by indexes in their order, without sorting what is due', async () => {
    const plans = new Database(join(app.home, 'adjutant.db'), { readonly: true });
    for (const [name, path] of Object.entries(taskViewsOf(DIGITS))) {
      const recording = recordStatements();
      const { status, body } = await app.call('GET', path, { token: owner.token });
      // The scheduler looks for the next reminder of all users meanwhile.
      const [sql = '', ...others] = [...recording.stop()].filter((each) =>
        /from "tasks" .*"user_id" = \?.*order by/.test(each),
      );
      expect(others, name).to.equal([]);
      expect([name, status, body.tasks.length > 0]).to.equal([name, 200, true]);
      const blanks = Array.from({ length: sql.split('?').length - 1 }, () => null);
      const plan = plans.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...blanks) as {
        detail: string;
      }[];
      const details = plan.map(({ detail }) => detail).join('\n');
      expect(details, `${name}: ${sql}`).to.not.match(/SCAN tasks/);
      if (/due|next/.test(name) && !/word|done|tag|parts/.test(name)) {
        expect(details, name).to.match(
          /SEARCH tasks USING INDEX tasks_next \(user_id=\? AND|tasks_next \(user_id=\?\)/,
        );
        expect(details, name).to.not.contain('ORDER BY');
      }
    }
    plans.close();
    const counted = (await app.call('GET', '/api/tasks?limit=200', { token: owner.token })).body;
    expect(counted.nextCursor).to.be.a.string();
    expect(TASKS).to.equal(10_000);
  });
});
