import { expect } from '@hapi/code';
import { until } from '../../harness/app.js';
import { openTarget } from '../../harness/target.js';
import { atCrashPoints, type Family } from './crashpoints.js';

export const operationCrashes: Family = ({ describe, it }, points) => {
  describe('an operation that is cancelled, with kills after its changes', () => {
    it('stays cancelled once acknowledged, and otherwise ends', async () => {
      const target = await openTarget();
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: target.address },
        prepare: async () => undefined,
        round: (n) => {
          const url = `${target.url}/${n}`;
          let started: string | null = null;
          let isCancelled = false;
          const visits = (): number =>
            target.received.filter(({ path }) => path === `/${n}`).length;
          target.received.length = 0;
          let isHanging = true;
          target.answer = (response) => {
            if (!isHanging || visits() === 0)
              response.setHeader('content-type', 'text/plain').end('Some words');
          };
          return {
            run: async ({ owner, settled }) => {
              try {
                const task = await owner.reader.read({ body: { url }, query: { wait: 0 } });
                started = task.id;
                const id = task.operationId;
                await until(
                  () => owner.operations.get({ id }),
                  () => visits() > 0,
                );
                await owner.operations.cancel({ id });
                isCancelled = true;
              } finally {
                isHanging = false;
              }
              await settled();
            },
            verify: async ({ owner }, last) => {
              const { tasks } = await owner.reader.list();
              const [task, ...more] = tasks.filter((each) => each.url === url);
              if (!task) {
                expect([started, visits()]).to.equal([null, 0]);
                return;
              }
              if (started) expect([task.id, more]).to.equal([started, []]);
              const { status } = await owner.operations.get({ id: task.operationId });
              expect(status).to.equal(task.status);
              if (isCancelled || last === null)
                expect([status, visits()]).to.equal(['cancelled', 1]);
              else expect(['cancelled', 'completed']).to.include(status);
              // At most one reading was under way.
              expect(visits()).to.be.between(0, 3);
            },
          };
        },
      }).finally(target.close);
      expect(changes.filter((change) => change.startsWith('reply'))).to.have.length(2);
    });
  });
};
