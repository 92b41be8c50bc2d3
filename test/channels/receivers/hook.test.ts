import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, until } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { SECRET } from '../../harness/hooks.js';
import { says } from '../../harness/openai.js';
import * as slack from '../../harness/slack.js';
import * as telegram from '../../harness/telegram.js';
import { type Desk, openPlatforms } from './desk.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('a hook with notifyOwner', () => {
  let desk: Desk;
  before(async () => {
    desk = await openPlatforms();
    await linkChannel(desk, desk.userId, { kind: 'slack', ...slack.ADA });
    // Told to the channels that are linked when the message is sent, so that Telegram would get it too.
    await desk.inSlack(1);
    await linkChannel(desk, desk.userId, { kind: 'telegram', ...telegram.ADA });
    await desk.inSlack(2);
    await desk.inTelegram(1);
    desk.slack.calls.length = 0;
    desk.telegram.calls.length = 0;
  });
  after(() => desk.stop());

  it('sends what its agent says to each linked channel, once', async () => {
    await desk.ask('POST', '/api/hooks', {
      name: 'issues',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'issues', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Triage', notifyOwner: true },
    });
    desk.model.script(says({ text: 'Labelled <bug>.' }));
    const body = JSON.stringify({ action: 'opened' });
    const headers = { 'x-hub-signature-256': sign(SECRET, body), 'x-github-delivery': 'd1' };
    const deliver = () => desk.call('POST', '/api/webhooks/issues', { body, headers });
    expect((await deliver()).status).to.equal(202);
    expect((await deliver()).status).to.equal(200);
    await desk.inSlack(1);
    await desk.inTelegram(1);
    await desk.restart();
    const done = await until(
      () => desk.app.store.db.selectFrom('jobs').select('kind').execute(),
      ({ length }) => length === 0,
    );
    expect(done).to.equal([]);
    expect(desk.slack.texts().map((text) => text.split('\n').slice(1))).to.equal([
      ['Labelled <bug>.'],
    ]);
    const [title = ''] = desk.slack.texts()[0]?.split('\n') ?? [];
    const [rich] = JSON.parse(JSON.stringify(desk.slack.calls[0]?.blocks));
    expect(rich.elements[0].elements).to.equal([
      { type: 'text', text: title, style: { bold: true } },
    ]);
    expect(desk.telegram.calls[0]?.entities).to.equal([
      { type: 'bold', offset: 0, length: title.length },
    ]);
    expect(desk.telegram.calls.map(({ text }) => String(text).split('\n').slice(1))).to.equal([
      ['Labelled <bug>.'],
    ]);
  });

  it('says each thing once, as its owner wrote it in Markdown', async () => {
    desk.slack.calls.length = 0;
    await desk.ask('POST', '/api/hooks', {
      ...{ name: 'orders', trigger: 'webhook', action: 'notify' },
      triggerConfig: { webhookPath: 'orders', webhookSecret: SECRET },
      actionConfig: { notifyMessage: 'Order **{{webhook.body.n}}**{{event}} @here' },
    });
    const body = JSON.stringify({ n: 7 });
    const headers = { 'x-hub-signature-256': sign(SECRET, body), 'x-github-delivery': 'd2' };
    await desk.call('POST', '/api/webhooks/orders', { body, headers });
    await desk.inSlack(1);
    expect(desk.slack.texts()).to.equal(['orders\nOrder 7 @here']);
    const [rich] = JSON.parse(JSON.stringify(desk.slack.calls[0]?.blocks));
    expect(rich.elements[1].elements).to.equal([
      { type: 'text', text: 'Order ' },
      { type: 'text', text: '7', style: { bold: true } },
      { type: 'text', text: ' @here' },
    ]);
    const listed = await desk.ask('GET', '/api/notifications?limit=1');
    expect(listed.body.notifications[0]).to.include({ title: 'orders', body: 'Order **7** @here' });
  });
});
