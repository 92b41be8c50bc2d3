import { expect } from '@hapi/code';
import { addHook } from '../../harness/account.js';
import { openTarget } from '../../harness/target.js';
import { arrived, deliver, linkChats, SECRET, setTelegram } from '../chats.js';
import { atCrashPoints, type Family, query } from './crashpoints.js';

const notice = {
  ...{ name: 'all', path: 'all', secret: SECRET, action: 'notify' as const },
  actionConfig: { notifyMessage: 'Number {{webhook.body.n}}', notifyOwner: true },
};
/** States of the messages about the notification, or the execution, of a round. */
const TO_CHAT = `SELECT s.status FROM sendings AS s JOIN notifications AS n ON n.id = s.cause_id
  WHERE n.body = ?`;
const TO_WEBHOOK = `SELECT s.status FROM sendings AS s JOIN outgoing_events AS o ON o.id = s.cause_id
  JOIN executions AS e ON e.id = o.effect_id JOIN deliveries AS d ON d.id = e.delivery_id
  WHERE json_extract(d.body, '$.n') = ?`;
const UNKNOWN = `SELECT count(*) FROM notifications WHERE kind = 'delivery_unknown'`;

export const messageCrashes: Family = ({ describe, it }, points) => {
  describe('a message, with kills after its changes', () => {
    it('to a chat is not lost and never sent twice', async () => {
      const telegram = await openTarget();
      telegram.answer = arrived;
      let unknown = 0;
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: telegram.address },
        prepare: async ({ owner }) => {
          await setTelegram(owner, telegram);
          await addHook(owner, notice);
        },
        offline: linkChats,
        round: (n) => {
          let acknowledged: string | null = null;
          telegram.received.length = 0;
          return {
            run: async ({ url, settled }) => {
              acknowledged = await deliver(url, 'all', { n });
              await settled();
            },
            verify: async ({ home }, last) => {
              const states = query(home, TO_CHAT, `Number ${n}`);
              const texts = telegram.received.map(({ body }) => JSON.parse(body).text);
              if (!acknowledged && states.length === 0) return;
              // A message that was on its way has arrived or not. Its owner is notified.
              const isUnknown = last !== null && states[0] === 'unknown';
              if (isUnknown) unknown++;
              expect(states).to.equal([isUnknown ? 'unknown' : 'sent']);
              expect(texts.length).to.be.between(isUnknown ? -1 : 0, 2);
              if (last?.endsWith('sendMessage'))
                expect([isUnknown, texts.length]).to.equal([true, 1]);
              expect(query(home, UNKNOWN)).to.equal([unknown]);
            },
          };
        },
      }).finally(telegram.close);
      expect(changes.filter((change) => change.startsWith('request'))).to.have.length(1);
      expect(unknown).to.be.between(0, 4);
    });

    it('to a webhook is not lost, and sent again under the same ID at most', async () => {
      const endpoint = await openTarget();
      const changes = await atCrashPoints(points, {
        env: { ADJUTANT_EGRESS_ALLOW: endpoint.address },
        prepare: async ({ owner }) => {
          const body = { name: 'all', url: endpoint.url, events: ['hook.executed' as const] };
          await owner.webhooks.create({ body });
          await addHook(owner, notice);
        },
        round: (n) => {
          let acknowledged: string | null = null;
          endpoint.received.length = 0;
          return {
            run: async ({ url, settled }) => {
              acknowledged = await deliver(url, 'all', { n });
              await settled();
            },
            verify: async ({ home }, last) => {
              const states = query(home, TO_WEBHOOK, n);
              if (!acknowledged && states.length === 0) return;
              const ids = endpoint.received.map(({ headers }) => headers['webhook-id']);
              expect([states, new Set(ids).size]).to.equal([['sent'], 1]);
              expect(ids.length).to.be.between(0, last === null ? 2 : 3);
            },
          };
        },
      }).finally(endpoint.close);
      expect(changes.filter((change) => change.startsWith('request'))).to.have.length(1);
    });
  });
};
