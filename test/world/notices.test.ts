import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, openPlatforms } from '../channels/receivers/desk.js';
import { sign } from '../harness/app.js';
import { linkChannel } from '../harness/channel.js';
import { notice, onPath, SECRET } from '../harness/hooks.js';
import { ADA } from '../harness/telegram.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe('text of a payload in a notification', () => {
  let desk: Desk;
  before(async () => {
    desk = await openPlatforms();
  });
  beforeEach(async () => {
    await desk.anew();
    await linkChannel(desk, desk.userId, { kind: 'telegram', ...ADA });
    await desk.inTelegram(1);
    desk.telegram.calls.length = 0;
  });
  after(() => desk.stop());

  /** What reaches Telegram of a notification with this title in its payload. */
  const told = async (notifyMessage: string, title: string) => {
    desk.telegram.calls.length = 0;
    const actionConfig = { notifyMessage, notifyOwner: true };
    const hook = notice({ name: 'told', ...onPath('told'), actionConfig });
    const made = await desk.ask('POST', '/api/hooks', hook);
    expect(made.status, made.text).to.equal(201);
    const body = JSON.stringify({ title });
    const headers = { 'x-hub-signature-256': sign(SECRET, body) };
    const { status } = await desk.call('POST', '/api/webhooks/told', { body, headers });
    expect(status).to.equal(202);
    const [call] = await desk.inTelegram(1);
    const { text, entities = [] }: Record<string, unknown> = call ?? {};
    const { notifications } = (await desk.ask('GET', '/api/notifications')).body;
    await desk.ask('DELETE', `/api/hooks/${made.body.id}`);
    return { text, entities, inApp: notifications[0].body };
  };

  it('is shown as it is, and is no Markdown', async () => {
    for (const title of ['Fix __init__ and 2*3*4', '# Approved by your admin', '- [x] `a` <b>']) {
      const found = await told('{{webhook.body.title}}', title);
      expect(found.text).to.equal(`told\n${title}`);
      expect(found.inApp).to.equal(title);
    }
  });

  it('leaves the Markdown of the owner as it is', async () => {
    const found = await told('**New:** {{webhook.body.title}}', 'a*b*c');
    expect(found.text).to.equal('told\nNew: a*b*c');
    expect(found.inApp).to.equal('**New:** a*b*c');
  });
});
