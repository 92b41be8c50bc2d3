import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../../agents/stage.js';
import { until, untilAtLeast } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import { openForSuite } from '../../harness/suite.js';
import * as cloud from '../../harness/whatsapp.js';
import { deliver, effects, forget, moveOn, movingClock, type Request, setUp } from './desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const FIELDS = {
  appSecret: cloud.APP_SECRET,
  verifyToken: cloud.VERIFY_TOKEN,
  phoneNumberId: cloud.PHONE_NUMBER_ID,
  accessToken: cloud.ACCESS_TOKEN,
};

describe('the messenger endpoint, with WhatsApp', () => {
  const stage = openForSuite(lab, () => startStage({}, clock));
  let whatsapp: Awaited<ReturnType<typeof cloud.openWhatsapp>>;

  const clock = movingClock();
  beforeEach(async () => {
    whatsapp = await cloud.openWhatsapp();
    await setUp(stage, 'whatsapp', { baseUrl: whatsapp.baseUrl, fields: FIELDS });
  });
  afterEach(async () => {
    await forget(stage);
    whatsapp.close();
    await moveOn(stage, clock);
  });

  const arrives = (request: Request) => deliver(stage, '/api/messenger-webhook', request);
  const sent = (count: number) => untilAtLeast(async () => whatsapp.sent, count);
  const bodyOf = (message: unknown): string =>
    /"body":"((?:[^"\\]|\\.)*)"/.exec(JSON.stringify(message))?.[1] ?? '';
  const link = async () => {
    await linkChannel(stage, stage.userId, { kind: 'whatsapp', ...cloud.ADA });
    await sent(1);
    whatsapp.sent.length = 0;
  };

  it('proves itself to the verify token alone', async () => {
    const shake = (token: string) =>
      fetch(
        `${stage.url}/api/messenger-webhook?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`,
      );
    const right = await shake(cloud.VERIFY_TOKEN);
    expect([right.status, await right.text()]).to.equal([200, '1158201444']);
    for (const token of ['', 'meatyhamhocl', `${cloud.VERIFY_TOKEN}&hub.verify_token=x`]) {
      expect((await shake(token)).status).to.equal(401);
    }
  });

  it('gives a stranger a code that links the number', async () => {
    await arrives(cloud.written('/link'));
    const [answer] = await sent(1);
    const [, code] = /channels link (\w{6})/.exec(bodyOf(answer)) ?? [];
    expect(answer?.to).to.equal(cloud.ADA.id);
    const shown = await stage.ask('POST', '/api/auth/link/preview', { code });
    expect(shown.body).to.include({
      kind: 'whatsapp',
      address: cloud.ADA.id,
      name: 'Ada Lovelace',
    });
    expect((await stage.ask('POST', '/api/auth/link', { code })).status).to.equal(201);
  });

  it('takes words once, however often Meta sends them, and answers there', async () => {
    await link();
    stage.model.script(says({ text: 'It is **noon**, not *one*.' }));
    const request = cloud.written('What time is it?');
    const replies = await Promise.all([request, request, request].map(arrives));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    const [answer] = await sent(1);
    expect(answer).to.include({ to: cloud.ADA.id, type: 'text' });
    expect(bodyOf(answer)).to.equal('It is *noon*, not _one_.');
    expect((await stage.ask('GET', '/api/agents')).body.agents.length).to.equal(1);
    const rows = await until(
      () =>
        stage.app.store.db
          .selectFrom('sendings')
          .select(['status', 'receipt'])
          .where('kind', '=', 'agent_completed')
          .execute(),
      ([row]) => row?.status !== 'sending',
    );
    expect(rows).to.equal([{ status: 'sent', receipt: 'wamid.sent2' }]);
  });

  it('knows a recorded request for ever, since Meta signs no time', async () => {
    await link();
    stage.model.script(says({ text: 'noon' }), says({ text: 'late' }));
    const request = cloud.written('What time is it?');
    await arrives(request);
    await sent(1);
    const { db } = stage.app.store;
    await db
      .updateTable('inbound_events')
      .set({ received_at: '2020-01-01T00:00:00.000Z' })
      .execute();
    await arrives(cloud.written('And now?', { id: 'wamid.HBgM' }));
    await sent(2);
    expect((await arrives(request)).status).to.equal(200);
    const { sessions } = (await stage.ask('GET', '/api/sessions')).body;
    expect(sessions[0].messageCount).to.equal(4);
  });

  it('says that only text is understood, by a message of its own', async () => {
    await link();
    const sticker = cloud.sent('sticker', { id: '1003383421387256', mime_type: 'image/webp' });
    await arrives(sticker);
    const [told] = await sent(1);
    expect(bodyOf(told)).to.equal(
      'Only text, pictures, documents and voice messages are supported. The message was ignored.',
    );
    await arrives(sticker);
    await arrives(cloud.written('/help', { id: 'wamid.HBgM' }));
    await sent(2);
    expect(whatsapp.sent.map(bodyOf).filter((body) => body.startsWith('Only text'))).to.have.length(
      1,
    );
  });

  it('refuses a changed bit, another secret and none, and does nothing', async () => {
    await link();
    const right = cloud.written('hello');
    const before = await effects(stage);
    const wrong: Request[] = [
      { ...right, body: right.body.replace('hello', 'hellO') },
      { ...right, headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } },
      { ...right, headers: {} },
      { body: right.body, headers: cloud.signed(right.body, 'another') },
    ];
    for (const request of wrong) {
      expect((await arrives(request)).status).to.equal(401);
    }
    await stage.ask('PUT', '/api/admin/platforms/whatsapp', { fields: { appSecret: null } });
    expect((await arrives(right)).status).to.equal(401);
    expect(await effects(stage)).to.equal(before);
  });

  it('tells the owner in the app of a message that Meta took and did not deliver', async () => {
    await link();
    stage.model.script(says({ text: 'It is noon.' }));
    await arrives(cloud.written('What time is it?'));
    await sent(1);
    const messages = () =>
      stage.app.store.db
        .selectFrom('sendings')
        .select(['status', 'error'])
        .where('kind', '=', 'agent_completed')
        .execute();
    await until(messages, ([row]) => row?.status === 'sent');
    const code = { code: 131047, title: 'Re-engagement message' };
    const other = cloud.became('failed', 'wamid.of-nobody', [code]);
    const well = cloud.became('delivered', 'wamid.sent2');
    const failed = cloud.became('failed', 'wamid.sent2', [code]);
    for (const request of [other, well]) expect((await arrives(request)).status).to.equal(200);
    expect(await messages()).to.equal([{ status: 'sent', error: null }]);
    const replies = await Promise.all([failed, failed].map(arrives));
    expect(replies.map(({ status }) => status)).to.equal([200, 200]);
    const error =
      'WhatsApp accepts free text only within 24 hours after the last message of the user. ' +
      'Send a message from WhatsApp, then resend this one. Or an admin sets an approved template: ' +
      'adjutant channels setup whatsapp (131047)';
    expect(await messages()).to.equal([{ status: 'failed', error }]);
    const { notifications } = (await stage.ask('GET', '/api/notifications')).body;
    const told = notifications.filter(({ kind }: { kind: string }) => kind === 'delivery_failed');
    expect(told.map(({ body }: { body: string }) => body)).to.equal([
      `"agent_completed" was accepted but not delivered: ${error}`,
    ]);
  });

  it('asks with buttons, and takes the answer of the owner alone', async () => {
    await link();
    const id = await askApproval(stage, stage.userId);
    const [question] = await sent(1);
    const ids = JSON.stringify(question).match(/(approve|deny):\w+:\w+/g) ?? [];
    const pressed = (buttonId: string, event: string) =>
      arrives(cloud.pressed(buttonId, 'Approve', event));
    const [approve = '', deny = ''] = ids;
    await pressed(
      approve.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
      'wamid.1',
    );
    await sent(2);
    const state = async () => (await stage.ask('GET', `/api/chat/approvals/${id}`)).body.status;
    expect(await state()).to.equal('pending');
    await pressed(approve, 'wamid.2');
    expect(await state()).to.equal('approved');
    await pressed(deny, 'wamid.3');
    expect(await state()).to.equal('approved');
    expect(bodyOf((await sent(3))[2])).to.match(/^Approved: /);
  });
});
