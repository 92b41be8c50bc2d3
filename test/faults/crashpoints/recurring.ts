import { join } from 'node:path';
import { expect } from '@hapi/code';
import Database from 'better-sqlite3';
import { until } from '../../harness/app.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

const ACTIONS = [
  ['create_task', {}],
  ['notify', { notifyMessage: 'It is time' }],
  ['spawn_agent', { agentPrompt: 'Say something', agentModel: 'digest' }],
] as const;
const DAILY = { cron: '0 3 * * *' };

const makeDue = (home: string, n: number): void => {
  const db = new Database(join(home, 'adjutant.db'));
  const due = new Date(Date.now() - 1000).toISOString();
  db.prepare('UPDATE recurring_tasks SET next_run_at = ? WHERE title = ?').run(due, `Due ${n}`);
  db.close();
};

/** Runs at due times of one round. */
const RUNS = `SELECT r.action || ' ' || n.status || ' ' || r.run_count
  FROM recurring_tasks AS r JOIN recurring_runs AS n ON n.recurring_task_id = r.id
  WHERE r.title = ? AND n.due_at IS NOT NULL ORDER BY r.action`;
/** Effects of all rounds. */
const EFFECTS = `SELECT count(*) FROM tasks UNION ALL SELECT count(*) FROM agents
  UNION ALL SELECT count(*) FROM notifications WHERE body = 'It is time'`;

export const recurringCrashes: Family = ({ describe, it }, points) => {
  describe('recurring tasks that become due, with kills after its changes', () => {
    it('each run once', async () => {
      const changes = await atCrashPoints(points, {
        prepare: async () => undefined,
        round: (n) => {
          const title = `Due ${n}`;
          let created: string | null = null;
          const allRan = async (home: string) => {
            await until(
              async () => query(home, RUNS, title),
              (runs) => runs.length >= ACTIONS.length,
            );
          };
          return {
            prepare: async ({ owner }) => {
              for (const [action, actionConfig] of ACTIONS) {
                const body = { title, schedule: DAILY, action, actionConfig };
                await owner.recurring.create({ body });
              }
            },
            run: async ({ owner, home, settled }) => {
              makeDue(home, n);
              // The scheduler looks again after a change.
              const body = { title: `New ${n}`, schedule: DAILY, action: 'create_task' as const };
              created = (await owner.recurring.create({ body })).id;
              await allRan(home);
              await settled();
            },
            verify: async ({ home, owner, settled }) => {
              await allRan(home);
              await settled();
              const ran = ACTIONS.map(([action]) => `${action} success 1`);
              expect(query(home, RUNS, title)).to.equal(ran);
              expect(query(home, EFFECTS)).to.equal([n, n, n]);
              if (!created) return;
              expect((await owner.recurring.get({ id: created })).title).to.equal(`New ${n}`);
            },
          };
        },
      });
      expect(changes.filter((change) => change === 'commit').length).to.be.at.least(6);
    });
  });
};
