import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Reply } from '../../harness/app.js';
import { type Desk, openDesk } from '../../harness/hooks.js';
import { type ScriptedRequest, type ScriptedSender, signedByScript, verifyOf } from './signers.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const ORIGIN = 'https://hooks.example.org';
/** They sign neither an id nor a time, so that nothing tells a repeat from a second event. */
const WITHOUT_ID = [
  ...['airtable', 'asana', 'basic', 'cal-com', 'dropbox', 'grafana', 'lemon-squeezy', 'mandrill'],
  ...['meta', 'paystack'],
];

describe('a daemon that script-signed requests of senders reach', () => {
  let desk: Desk;
  let signed: ScriptedSender[];
  before(async () => {
    desk = await openDesk({ config: { publicUrl: ORIGIN } });
    signed = signedByScript(`${ORIGIN}/api/webhooks/<sender>`, Date.now());
    for (const { sender, secret } of signed) {
      const trigger = { webhookPath: sender, webhookSecret: secret, verify: verifyOf(sender) };
      await desk.hook({ name: sender, triggerConfig: trigger });
    }
  });
  after(() => desk.test.stop());

  const send = (sender: string, { query, headers, body }: ScriptedRequest): Promise<Reply> => {
    const { 'Content-Type': type = null, ...rest } = headers;
    const sent = { body: Buffer.from(body, 'base64'), headers: rest, type };
    return desk.test.call('POST', `/api/webhooks/${sender}${query}`, sent);
  };

  it('receives all of 51 senders, and none of their forgeries', async () => {
    const faults: string[] = [];
    let forged = 0;
    for (const { sender, requests } of signed) {
      const { valid, ...forgeries } = requests;
      for (const [name, request] of Object.entries(forgeries)) {
        forged += 1;
        const { status } = await send(sender, request);
        if (status !== 401) faults.push(`${sender}: ${name} gets ${status}`);
      }
      const { status, text } = await send(sender, valid);
      if (status !== 202) faults.push(`${sender}: ${status} ${text}`);
    }
    expect(faults).to.equal([]);
    const names = new Set(signed.map(({ sender }) => sender.replace(/-(?:form|json)$/, '')));
    expect([names.size, forged > 200]).to.equal([51, true]);
  });

  it('knows a repeat of each sender that signs an id or a time', async () => {
    const unknown: string[] = [];
    for (const { sender, requests } of signed) {
      const { status, body } = await send(sender, requests.valid);
      if (status !== 200 || body.duplicate !== true) unknown.push(sender);
    }
    expect(unknown.sort()).to.equal(WITHOUT_ID);
  });
});
