import { expect } from '@hapi/code';
import type { PipelineRun } from '../../../src/client/index.js';
import type { Owner } from '../../harness/account.js';
import { until } from '../../harness/app.js';
import { openTarget } from '../../harness/target.js';
import { atCrashPoints, type Family } from './crashpoints.js';

/** Paths of the calls whose owner was asked whether to make them again. */
const answerAll = async (owner: Owner, run: PipelineRun): Promise<string[]> => {
  const asked: string[] = [];
  const { stages } = await owner.pipelines.get({ id: run.id });
  for (const { key, status, digest, input } of stages) {
    if (status !== 'waiting_approval' || digest === null) continue;
    const { url } = Object(Object(input).arguments);
    if (typeof url === 'string') asked.push(new URL(url).pathname);
    await owner.pipelines.approve({ id: run.id, key, body: { digest } });
  }
  return asked;
};

export const pipelineCrashes: Family = ({ describe, it }, points) => {
  describe('a run of a pipeline, with kills after its changes', () => {
    it('ends, and makes no call twice without asking', async () => {
      const target = await openTarget();
      const post = (path: string) => ({
        kind: 'http' as const,
        config: { method: 'POST', url: `${target.url}/{{params.n}}-${path}`, body: 'once' },
      });
      let templateId = '';
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: target.address },
        prepare: async ({ owner }) => {
          const stages = [
            { key: 'send', ...post('send') },
            {
              key: 'ok',
              kind: 'approval' as const,
              needs: ['send'],
              config: { message: 'Go on?' },
            },
            { key: 'last', needs: ['ok'], allowUntrusted: true, ...post('last') },
          ];
          const parameters = [{ key: 'n', type: 'number' as const }];
          const body = { name: 'Killed', parameters, stages };
          ({ id: templateId } = await owner.templates.create({ body }));
        },
        round: (n) => {
          let id: string | null = null;
          const asked: string[] = [];
          const finished = async (owner: Owner): Promise<PipelineRun[]> =>
            until(
              async () => {
                const { pipelines } = await owner.pipelines.list({ query: { templateId } });
                const mine = pipelines.filter(({ params }) => Object(params).n === n);
                for (const run of mine)
                  if (run.finishedAt === null) asked.push(...(await answerAll(owner, run)));
                return mine;
              },
              (runs) => runs.every(({ finishedAt }) => finishedAt !== null),
            );
          target.received.length = 0;
          return {
            run: async ({ owner }) => {
              ({ id } = await owner.pipelines.start({ body: { templateId, params: { n } } }));
              await finished(owner);
            },
            verify: async ({ owner, settled }, last) => {
              const runs = await finished(owner);
              await settled();
              const received = target.received.map(({ path }) => path);
              if (runs.length === 0) {
                expect([id, received]).to.equal([null, []]);
                return;
              }
              expect(runs.map(({ status }) => status)).to.equal(['completed']);
              if (id) expect(runs[0]?.id).to.equal(id);
              if (last === null) expect(asked).to.equal([]);
              const paths = [`/${n}-send`, `/${n}-last`];
              expect(new Set(received)).to.equal(new Set(paths));
              // At most one call was under way.
              expect(received.length).to.be.at.most(paths.length + Math.min(1, asked.length));
            },
          };
        },
      }).finally(target.close);
      expect(changes.filter((change) => change.startsWith('request'))).to.have.length(2);
    });
  });
};
