import { createHmac } from 'node:crypto';
import { expect } from '@hapi/code';
import { addHook } from '../../harness/account.js';
import { SECRET } from '../chats.js';
import { isAcknowledged } from '../senders.js';
import { startSink } from '../sink.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

/** Sends the delivery with its id, as GitHub does. Resolves to its execution if it is acknowledged. */
const deliver = async (url: string, n: number): Promise<string | undefined> => {
  const body = JSON.stringify({ n });
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': `delivery-${n}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  };
  const init = { method: 'POST', headers, body };
  const answer: unknown = await (await fetch(`${url}/api/webhooks/all`, init)).json();
  return isAcknowledged(answer) ? answer.executions[0] : undefined;
};

const EXECUTIONS = `SELECT json_object('id', e.id, 'status', e.status) FROM executions AS e
  JOIN deliveries AS d ON d.id = e.delivery_id WHERE json_extract(d.body, '$.n') = ?`;

export const deliveryCrashes: Family = ({ describe, it }, points) => {
  describe('a delivery, with kills after its changes', () => {
    it('is not lost once acknowledged, and runs once however often it is sent', async () => {
      const sink = await startSink();
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: `127.0.0.1:${sink.port}` },
        prepare: async ({ owner }) => {
          const actionConfig = { webhookUrl: `http://127.0.0.1:${sink.port}/` };
          const hook = { name: 'all', path: 'all', secret: SECRET, action: 'webhook' as const };
          await addHook(owner, { ...hook, actionConfig });
        },
        round: (n) => {
          let acknowledged: string | undefined;
          sink.effects.clear();
          return {
            run: async ({ url, settled }) => {
              acknowledged = await deliver(url, n);
              await settled();
            },
            verify: async ({ url, home, settled }, last) => {
              const before = query(home, EXECUTIONS, n);
              if (acknowledged) expect(before.length).to.equal(1);
              await deliver(url, n);
              await settled();
              const [execution, ...more] = query(home, EXECUTIONS, n).map((row) =>
                JSON.parse(`${row}`),
              );
              expect([execution.status, more]).to.equal(['success', []]);
              if (acknowledged) expect(execution.id).to.equal(acknowledged);
              // The receiver knows a repeat by its id.
              const times = last === 'request POST /' ? 2 : 1;
              expect([...sink.effects]).to.equal([[execution.id, times]]);
            },
          };
        },
      }).finally(sink.close);
      expect(changes).to.include(['reply POST /api/webhooks/all', 'request POST /']);
      expect(changes.filter((change) => change === 'commit').length).to.be.at.least(4);
    });
  });
};
