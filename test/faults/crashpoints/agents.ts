import { expect } from '@hapi/code';
import { mind } from '../../agents/mind.js';
import { call } from '../../agents/stage.js';
import { startOpenai } from '../../harness/openai.js';
import { listen } from '../../kernel/listen.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

export const agentCrashes: Family = ({ describe, it }, points) => {
  describe('an agent that delegates, with kills after its changes', () => {
    it('is not lost once acknowledged, and repeats no call that has effects', async () => {
      const model = await startOpenai();
      const target = await listen((_, response) => void response.end('posted'));
      /** Rounds without a sub-agent. */
      const undelegated: number[] = [];
      /** The prompts are "root 7" and "sub 7". */
      const think = mind(({ task, results }) => {
        const [, role, n] = /(root|sub) (\d+)/.exec(task) ?? [];
        const [result] = results;
        if (result !== undefined) return { text: `${role}: ${result}` };
        if (role === 'root')
          return { toolCalls: [call('agents_delegate', { prompt: `sub ${n}` })] };
        const url = `${target.origin}/${n}`;
        return { toolCalls: [call('http_request', { method: 'POST', url })] };
      });
      model.script(...think);
      const changes = await atCrashPoints(points, {
        env: {
          ADJUTANT_MODEL_URL: model.baseUrl,
          ADJUTANT_MODEL_NAME: 'fake',
          ADJUTANT_EGRESS_ALLOW: target.entry,
        },
        prepare: async () => undefined,
        round: (n) => {
          let acknowledged: string | undefined;
          return {
            run: async ({ owner, settled }) => {
              const body = { prompt: `root ${n}`, tools: ['http', 'agents'] };
              acknowledged = (await owner.agents.spawn({ body })).id;
              await settled();
            },
            verify: async ({ owner, home }, last) => {
              const find = 'SELECT id FROM agents WHERE prompt = ?';
              const ids = query(home, find, `root ${n}`).map(String);
              expect(ids.length).to.be.at.most(1);
              if (acknowledged) expect(ids).to.equal([acknowledged]);
              const [rootId] = ids;
              const posts = target.got.filter(({ path }) => path === `/${n}`).length;
              if (rootId === undefined) {
                expect(posts).to.equal(0);
                return;
              }
              const { agents } = await owner.agents.list({ query: { rootId } });
              const [sub, root] = agents.length === 1 ? [undefined, ...agents] : agents;
              expect([root?.id, root?.status]).to.equal([rootId, 'completed']);
              const result = root?.result ?? '';
              if (!sub) {
                // The kill came between the record of the call and its sub-agent.
                expect(result).to.match(/^root: Interrupted while running/);
                expect(posts).to.equal(0);
                undelegated.push(n);
                return;
              }
              expect([agents.length, sub.status]).to.equal([2, 'completed']);
              expect(result).to.contain(sub.result ?? '-');
              // A call that had begun is reported, whether or not its request was sent.
              const isCut = /^sub: Interrupted while running/.test(sub.result ?? '');
              expect(posts).to.be.within(isCut ? 0 : 1, 1);
              if (last === `request POST /${n}`) expect([isCut, posts]).to.equal([true, 1]);
              if (last === null) expect(isCut).to.be.false();
            },
          };
        },
      }).finally(() => Promise.all([model.stop(), target.close()]));
      const requests = changes.filter((change) => change.startsWith('request POST'));
      expect(requests).to.have.length(5);
      expect(changes).to.include('reply POST /api/agents');
      expect(undelegated.length).to.be.at.most(2);
    });
  });
};
