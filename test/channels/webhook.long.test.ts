import { createHmac } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../agents/stage.js';
import { untilAtLeast } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { openTarget, type Received, type Target } from '../harness/target.js';
import { forget } from './receivers/desk.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MINUTE_MS = 60_000;

/** `webhook-signature`, as Standard Webhooks has it. */
const macOf = (secret: string, { id, at, body }: { id: string; at: string; body: string }) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${at}.${body}`)
    .digest('base64')}`;

describe('a webhook channel', () => {
  const stage = openForSuite(lab, () => startStage({ egressAllow: ['127.0.0.1'] }));
  let target: Target;
  beforeEach(async () => {
    target = await openTarget();
  });
  afterEach(async () => {
    await forget(stage);
    target.close();
  });

  const create = (body: object = {}) =>
    stage.ask('POST', '/api/channels', { kind: 'webhook', url: `${target.url}/in`, ...body });
  const said = ({ body }: Received) => JSON.parse(body);
  /** Made and verified; what was sent until then is forgotten. */
  const open = async () => {
    const { channel, secret } = (await create({ name: 'My bot' })).body;
    const [first] = await target.got(1);
    const { code } = said(first as Received).data;
    await stage.ask('POST', `/api/channels/${channel.id}/verify`, { code });
    await target.got(2);
    target.received.length = 0;
    return { id: String(channel.id), secret: String(secret) };
  };
  const posted = (
    { id: channelId, secret }: { id: string; secret: string },
    body: object,
    { id = 'msg_1', at = Date.now() } = {},
  ) => {
    const text = JSON.stringify({ channelId, ...body });
    const seconds = String(Math.floor(at / 1000));
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': macOf(secret, { id, at: seconds, body: text }),
    };
    return { headers, body: text };
  };
  const send = (request: { headers: Record<string, string>; body: string }) =>
    stage.call('POST', '/api/messenger-webhook', request);

  it('is made, sent a code that is signed, and used once that is said', async () => {
    const { status, body } = await create({ name: 'My bot' });
    const { channel, secret } = body;
    expect([status, channel]).to.equal([
      201,
      {
        id: channel.id,
        kind: 'webhook',
        address: `${target.url}/in`,
        name: 'My bot',
        verifiedAt: null,
        createdAt: channel.createdAt,
      },
    ]);
    const [first] = await target.got(1);
    const { type, channelId, data } = said(first as Received);
    expect([type, channelId, data.code.length]).to.equal(['verification', channel.id, 6]);
    const { 'webhook-id': id, 'webhook-timestamp': at } = first?.headers ?? {};
    const wanted = macOf(secret, { id: String(id), at: String(at), body: first?.body ?? '' });
    expect(first?.headers['webhook-signature']).to.equal(wanted);
    expect((await stage.ask('POST', `/api/channels/${channel.id}/test`)).body.code).to.equal(
      'not_verified',
    );
    const wrong = await stage.ask('POST', `/api/channels/${channel.id}/verify`, { code: 'AAAAAA' });
    expect([wrong.status, wrong.body.code]).to.equal([404, 'wrong_code']);
    const right = await stage.ask('POST', `/api/channels/${channel.id}/verify`, {
      code: data.code,
    });
    expect([right.status, right.body.verifiedAt === null]).to.equal([200, false]);
    const again = await stage.ask('POST', `/api/channels/${channel.id}/verify`, {
      code: data.code,
    });
    expect(again.status).to.equal(404);
    const [, told] = await target.got(2);
    expect(said(told as Received)).to.include({ type: 'notification', channelId: channel.id });
    const listed = (await stage.ask('GET', '/api/channels')).text;
    expect(listed).to.not.include(secret);
  });

  it('is sent a test, which says how it ended, under one id over its attempts', async () => {
    const { id } = await open();
    target.answer = (response, nth) => response.writeHead(nth === 1 ? 503 : 200).end();
    const { status, body } = await stage.ask('POST', `/api/channels/${id}/test`);
    expect([status, body.status]).to.equal([202, 'sent']);
    const [first, second] = await target.got(2);
    expect(first?.headers['webhook-id']).to.equal(second?.headers['webhook-id']);
    expect(said(first as Received).data).to.include({ title: 'Test message from Adjutant' });
  });

  it('takes what is posted with its secret as its owner’s words, once, and answers there', async () => {
    const channel = await open();
    stage.model.script(says({ text: 'noon' }));
    const request = posted(channel, { text: 'What time is it?' });
    const replies = await Promise.all([request, request, request].map(send));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    const [answer] = await target.got(1);
    expect(said(answer as Received)).to.include({ type: 'message', channelId: channel.id });
    expect(said(answer as Received).data).to.equal({
      kind: 'agent_completed',
      title: null,
      text: 'noon',
      link: null,
    });
    expect((await stage.ask('GET', '/api/agents')).body.agents.length).to.equal(1);
    expect((await send(posted(channel, { text: '/status' }, { id: 'msg_2' }))).body).to.equal({
      text: '0 agents running, 0 approvals pending.',
    });
  });

  it('tells beside an answer that it was cut off', async () => {
    const channel = await open();
    stage.model.script(says({ text: 'The first of', finish: 'length' }));
    await send(posted(channel, { text: 'List them' }));
    const [answer] = await target.got(1);
    expect(said(answer as Received).data.text).to.equal(
      "The first of\n\nThe reply was cut off at the model's output limit.",
    );
  });

  it('refuses what is changed, old, or signed with another’s secret', async () => {
    const channel = await open();
    const other = (await create()).body;
    const right = posted(channel, { text: 'hello' });
    const wrong = [
      { ...right, body: right.body.replace('hello', 'hellO') },
      { ...right, headers: { ...right.headers, 'webhook-id': 'msg_2' } },
      { ...right, headers: { ...right.headers, 'webhook-signature': 'v1,' } },
      posted(channel, { text: 'hello' }, { at: Date.now() - 6 * MINUTE_MS }),
      posted({ ...channel, secret: other.secret }, { text: 'hello' }),
      posted({ ...channel, id: 'channel_none' }, { text: 'hello' }),
      posted({ id: other.channel.id, secret: other.secret }, { text: 'not verified yet' }),
      { ...right, body: '' },
      { ...right, body: '7' },
    ];
    for (const request of wrong) expect((await send(request)).status).to.equal(401);
    expect((await stage.ask('GET', '/api/agents')).body.agents).to.equal([]);
  });

  it('is asked for approvals and gives them', async () => {
    const channel = await open();
    const approvalId = await askApproval(stage, stage.userId);
    const [asked] = await target.got(1);
    const { type, data } = said(asked as Received);
    expect([type, data.approvalId]).to.equal(['approval', approvalId]);
    const other = posted(channel, { approvalId, digest: '0'.repeat(64), approved: true });
    expect((await send(other)).body.text).to.match(/Review the approval again/);
    const answer = posted(
      channel,
      { approvalId, digest: data.digest, approved: true },
      { id: 'msg_2' },
    );
    expect((await send(answer)).body.text).to.match(/^Approved: http.request/);
    const { body } = await stage.ask('GET', `/api/chat/approvals/${approvalId}`);
    expect(body.status).to.equal('approved');
  });

  it('is given the whole address of what the page shows, once a check came through', async () => {
    const address = 'https://adjutant.example';
    const row = { id: 'reach' as const, address, is_ok: 0, checked_at: '2026-01-31T09:30:00.000Z' };
    await stage.app.store.db.insertInto('tunnel_reach').values(row).execute();
    const toldOfAgent = async () => {
      target.received.length = 0;
      await open();
      const notice = { title: 'triage', body: 'Done.', link: '/agents/agent_1', isDirect: true };
      const { outbox } = stage.app.modules.outbound;
      await outbox.send(stage.userId, { kind: 'agent_completed', ...notice });
      const [told] = await target.got(1);
      const { text, link } = said(told as Received).data;
      await forget(stage);
      return [text, link];
    };
    await stage.restart({ publicUrl: address });
    expect(await toldOfAgent()).to.equal(['Done.', '/agents/agent_1']);
    await stage.app.store.db.updateTable('tunnel_reach').set({ is_ok: 1 }).execute();
    await stage.restart({ publicUrl: address, page: 'local' });
    expect(await toldOfAgent()).to.equal(['Done.', '/agents/agent_1']);
    await stage.restart({ publicUrl: address });
    const whole = `${address}/agents/agent_1`;
    expect(await toldOfAgent()).to.equal([`Done.\n\n${whole}`, whole]);
    target.received.length = 0;
    await open();
    const approvalId = await askApproval(stage, stage.userId);
    const [asked] = await target.got(1);
    const { text: question } = said(asked as Received).data;
    expect(String(question)).to.endWith(`\n\n${address}/approvals/${approvalId}`);
    await stage.app.store.db.deleteFrom('tunnel_reach').execute();
    await stage.restart();
  });

  it('is asked by stages of pipelines and answers them', async () => {
    const channel = await open();
    const stages = [{ key: 'ask', kind: 'approval', config: { message: 'Publish?' } }];
    const template = (await stage.ask('POST', '/api/pipelines/templates', { name: 'T', stages }))
      .body;
    const run = (await stage.ask('POST', '/api/pipelines', { templateId: template.id })).body;
    const [asked] = await target.got(1);
    const { type, data } = said(asked as Received);
    const { digest } = run.stages[0];
    expect([type, data.approvalId, data.digest]).to.equal(['approval', run.id, digest]);
    const decision = { approvalId: run.id, approved: true };
    const other = posted(channel, { ...decision, digest: '0'.repeat(64) });
    expect((await send(other)).body.text).to.equal(
      'The request was already answered or has changed.',
    );
    const answer = posted(channel, { ...decision, digest }, { id: 'msg_2' });
    expect((await send(answer)).body.text).to.equal('Approved: ask of T');
    const { body } = await stage.ask('GET', `/api/pipelines/${run.id}`);
    expect([body.status, body.stages[0].output.approved]).to.equal(['completed', true]);
  });

  it('refuses an address that can never be reached, and more than there may be', async () => {
    for (const url of [
      'ftp://a.example',
      'http://169.254.169.254/',
      'http://10.0.0.1/',
      'nothing',
    ]) {
      const { status, body } = await create({ url });
      expect([status, body.details?.[0]?.path]).to.equal([400, 'url']);
    }
    for (let n = 0; n < 20; n++) expect((await create()).status).to.equal(201);
    expect((await create()).status).to.equal(409);
    await untilAtLeast(async () => target.received, 20);
  });
});
