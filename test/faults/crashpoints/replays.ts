import { expect } from '@hapi/code';
import { addHook } from '../../harness/account.js';
import { openTarget } from '../../harness/target.js';
import { deliver, SECRET } from '../chats.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

const FAILED = 2;
const REPLAYS = `SELECT json_object('id', r.id, 'status', r.status)
  FROM executions AS e LEFT JOIN executions AS r ON r.replay_of = e.id
  WHERE e.hook_id = ? AND e.replay_of IS NULL`;

const COUNT = 'SELECT count(*) FROM executions WHERE hook_id = ? AND replay_of IS NOT NULL';

export const replayCrashes: Family = ({ describe, it }, points) => {
  describe('an operation of replays, with kills after its changes', () => {
    it('replays each failed execution once', async () => {
      const target = await openTarget();
      const since = new Date(Date.now() - 3600_000).toISOString();
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: target.address },
        prepare: async () => undefined,
        round: (n) => {
          let hookId = '';
          let acknowledged: string | null = null;
          return {
            prepare: async ({ url, owner, settled }) => {
              target.answer = (response) => response.writeHead(400).end();
              const actionConfig = { webhookUrl: target.url };
              const hook = {
                name: `h${n}`,
                path: `h${n}`,
                secret: SECRET,
                action: 'webhook' as const,
              };
              hookId = await addHook(owner, { ...hook, actionConfig });
              for (let at = 0; at < FAILED; at++) await deliver(url, `h${n}`, { at });
              await settled();
              target.answer = (response) => response.end('fine');
              target.received.length = 0;
            },
            run: async ({ owner, settled }) => {
              const body = { hookId, since, force: true };
              acknowledged = (await owner.replays.create({ body })).id;
              await settled();
            },
            verify: async ({ owner, home, settled }, last) => {
              if (acknowledged) {
                const { status, result } = await owner.operations.get({ id: acknowledged });
                expect([status, Object(result).replayed]).to.equal(['completed', FAILED]);
                expect(query(home, COUNT, hookId)).to.equal([FAILED]);
              }
              // The owner does not know whether it began, and begins it again.
              await owner.replays.create({ body: { hookId, since, force: true } });
              await settled();
              const replays = query(home, REPLAYS, hookId).map((row) => JSON.parse(String(row)));
              expect(replays.map(({ status }) => status)).to.equal(['success', 'success']);
              const received = target.received.map(({ headers }) => headers['webhook-id']);
              expect(new Set(received)).to.equal(new Set(replays.map(({ id }) => id)));
              expect(received.length).to.be.at.most(last === null ? FAILED : 2 * FAILED);
            },
          };
        },
      }).finally(target.close);
      expect(changes.filter((change) => change.startsWith('request'))).to.have.length(FAILED);
    });
  });
};
