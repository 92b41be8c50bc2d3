import { expect } from '@hapi/code';
import { queriesOf, quotingReport, startResearcher, startWeb } from '../../harness/web.js';
import { atCrashPoints, type Family } from './crashpoints.js';

const PAGE = '<title>T</title><article><p>The bridge was closed in March.</p></article>';

export const researchCrashes: Family = ({ describe, it }, points) => {
  describe('research, with kills after its changes', () => {
    it('ends, and repeats only the request whose answer was not recorded', async () => {
      const web = await startWeb([{ '/page': PAGE }]);
      const model = await startResearcher((task, prompt) =>
        task === 'write' ? quotingReport(prompt) : queriesOf('one'),
      );
      const changes = await atCrashPoints(points, {
        env: {
          ADJUTANT_EGRESS_ALLOW: web.egressAllow.join(' '),
          ADJUTANT_SEARCH_URL: web.searchUrl,
          ADJUTANT_MODEL_URL: model.openai.baseUrl,
          ADJUTANT_MODEL_NAME: 'fake-1',
        },
        prepare: async () => undefined,
        round: (n) => {
          const question = `When was bridge ${n} closed?`;
          let id: string | null = null;
          web.forget();
          web.finds([web.at(0, '/page')], [web.at(0, '/page')]);
          model.openai.asked.length = 0;
          return {
            run: async ({ owner, settled }) => {
              const body = { question, depth: 'quick' as const, sources: ['web' as const] };
              ({ id } = await owner.research.start({ body }));
              await settled();
            },
            verify: async ({ owner }, last) => {
              const { jobs } = await owner.research.list();
              const [job, ...more] = jobs.filter((each) => each.question === question);
              const requests = [
                model.prompts('plan').length,
                web.queries.length,
                web.visitsOf(web.at(0, '/page')),
                model.prompts('write').length,
              ];
              const { notifications } = await owner.notifications.list();
              const { entries } = await owner.knowledge.list();
              if (!job) {
                expect([id, requests]).to.equal([null, [0, 0, 0, 0]]);
                return;
              }
              if (id) expect(job.id).to.equal(id);
              const { report } = await owner.research.get({ id: job.id });
              expect([job.status, report?.unverified, more]).to.equal(['completed', 0, []]);
              const notices = notifications.filter(({ link }) => link?.endsWith(job.id));
              const kept = entries.filter(({ sourceId }) => sourceId === job.id);
              expect([notices.length, kept.length]).to.equal([1, 1]);
              expect(Math.min(...requests)).to.equal(1);
              const repeats = requests.reduce((sum, count) => sum + count - 1, 0);
              expect(repeats).to.be.at.most(last === null ? 0 : 1);
            },
          };
        },
      }).finally(() => Promise.all([web.stop(), model.stop()]));
      expect(changes.filter((change) => change.startsWith('request')).length).to.be.at.least(4);
    });
  });
};
