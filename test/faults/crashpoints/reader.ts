import { expect } from '@hapi/code';
import { listen } from '../../kernel/listen.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

export const readerCrashes: Family = ({ describe, it }, points) => {
  describe('a page that is read, with kills after its changes', () => {
    it('is not lost once acknowledged, and is stored and indexed once', async () => {
      const pages = await listen(({ url = '' }, response) => {
        if (url === '/robots.txt') return void response.writeHead(404).end();
        response.setHeader('content-type', 'text/html');
        response.end(`<title>Page</title><p>This is the text of ${url}.</p>`);
      });
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: pages.entry },
        prepare: async ({ owner }) => {
          await owner.reader.read({ body: { url: `${pages.origin}/first`, index: true } });
        },
        round: (n) => {
          const path = `/page${n}`;
          const url = `${pages.origin}${path}`;
          let acknowledged: string | undefined;
          return {
            run: async ({ owner, settled }) => {
              acknowledged = (await owner.reader.read({ body: { url, index: true, wait: 0 } })).id;
              await settled();
            },
            verify: async ({ owner, home }, last) => {
              const { tasks } = await owner.reader.list({ query: { url } });
              expect(tasks.length).to.be.at.most(1);
              if (acknowledged) expect(tasks.map(({ id }) => id)).to.equal([acknowledged]);
              for (const { id } of tasks) {
                const { status, content, note, knowledgeId } = await owner.reader.get({ id });
                expect([status, content, note]).to.equal([
                  'completed',
                  `This is the text of ${path}.`,
                  null,
                ]);
                const found = 'SELECT id FROM knowledge_entries WHERE source_id = ?';
                expect(query(home, found, url)).to.equal([knowledgeId]);
                const entry = await owner.knowledge.get({ id: knowledgeId ?? '' });
                expect([entry.status, entry.chunks]).to.equal(['ready', 1]);
              }
              const times = last === `request GET ${path}` ? 2 : 1;
              const requests = pages.got.filter((request) => request.path === path);
              expect(requests.length).to.equal(tasks.length * times);
            },
          };
        },
      }).finally(pages.close);
      expect(changes).to.include('reply POST /api/reader/read');
      expect(changes.some((change) => change.startsWith('request GET /page'))).to.be.true();
      expect(changes.filter((change) => change === 'commit').length).to.be.at.least(8);
    });
  });
};
