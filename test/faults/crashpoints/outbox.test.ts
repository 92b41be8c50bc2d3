import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { addHook } from '../../harness/account.js';
import { openTarget } from '../../harness/target.js';
import { arrived, deliver, linkChats, SECRET, setTelegram } from '../chats.js';
import { atEachCrashPoint, query } from './crashpoints.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** A round's execution, with the states of its messages to the chat and to the webhook. */
const ROUND = `SELECT json_object('chat', json(
    (SELECT json_group_array(s.status) FROM sendings AS s JOIN notifications AS n ON n.id = s.cause_id
     WHERE s.channel_id IS NOT NULL AND n.body = 'Number ' || json_extract(d.body, '$.n'))),
  'webhook', json(
    (SELECT json_group_array(s.status) FROM sendings AS s JOIN outgoing_events AS o ON o.id = s.cause_id
     WHERE s.webhook_id IS NOT NULL AND o.effect_id = e.id)))
  FROM executions AS e JOIN deliveries AS d ON d.id = e.delivery_id
  WHERE json_extract(d.body, '$.n') = ?`;
const UNKNOWN = `SELECT count(*) FROM notifications WHERE kind = 'delivery_unknown'`;

describe('messages to a chat and a webhook, with a kill after each change', {
  timeout: 600_000,
}, () => {
  it('are not lost, and the chat gets none twice', async () => {
    const [telegram, endpoint] = [await openTarget(), await openTarget()];
    telegram.answer = arrived;
    let unknown = 0;
    const changes = await atEachCrashPoint({
      env: { ADJUTANT_EGRESS_ALLOW: `${telegram.address} ${endpoint.address}` },
      prepare: async ({ owner }) => {
        await setTelegram(owner, telegram);
        const url = `${endpoint.url}/event`;
        await owner.webhooks.create({ body: { name: 'all', url, events: ['hook.executed'] } });
        const actionConfig = { notifyMessage: 'Number {{webhook.body.n}}', notifyOwner: true };
        const hook = { name: 'all', path: 'all', secret: SECRET, action: 'notify' as const };
        await addHook(owner, { ...hook, actionConfig });
      },
      offline: linkChats,
      round: (n) => {
        let acknowledged: string | null = null;
        telegram.received.length = 0;
        endpoint.received.length = 0;
        return {
          run: async ({ url, settled }) => {
            acknowledged = await deliver(url, 'all', { n });
            await settled();
          },
          verify: async ({ home }, last) => {
            const [row, ...more] = query(home, ROUND, n).map((one) => JSON.parse(String(one)));
            if (acknowledged) expect(row).to.exist();
            const texts = telegram.received.map(({ body }) => JSON.parse(body).text);
            const events = endpoint.received.map(({ headers }) => headers['webhook-id']);
            if (!row) {
              expect([texts, events]).to.equal([[], []]);
              return;
            }
            expect([more, row.webhook, new Set(events).size]).to.equal([[], ['sent'], 1]);
            if (last === null)
              expect([row.chat, texts.length, events.length]).to.equal([['sent'], 1, 1]);
            if (row.chat[0] === 'unknown') unknown++;
            else expect([row.chat, texts.length]).to.equal([['sent'], 1]);
            // A message that was on its way has arrived or not, and its owner is notified.
            expect(texts.length).to.be.below(2);
            expect(query(home, UNKNOWN)).to.equal([unknown]);
          },
        };
      },
    }).finally(() => {
      telegram.close();
      endpoint.close();
    });
    expect(changes.filter((change) => change.startsWith('request'))).to.have.length(2);
    expect(unknown).to.be.between(0, changes.length - 3);
  });
});
