import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { callDigest } from '../../src/approvals/approval.js';
import { call } from '../agents/stage.js';
import { untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import { DONE, openDesk, theOne } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('an approval', () => {
  const desk = openForSuite(lab, openDesk);
  afterEach(async () => {
    await desk.clear();
    desk.model.asked.length = 0;
    desk.canary.heard.length = 0;
  });

  it('is asked for before a call with effects, and nothing has run', async () => {
    const agent = await desk.asking();
    const approval = await theOne(desk);
    const args = { method: 'POST', url: desk.canary.url, body: 'hello' };
    const exact = { agentId: agent.id, tool: 'http', action: 'request', arguments: args };
    expect(approval).to.equal({
      id: approval.id,
      orgId: null,
      ...exact,
      details: [],
      digest: callDigest(exact),
      reason: 'it has side effects',
      untrusted: false,
      status: 'pending',
      createdAt: '2026-03-01T12:00:00.000Z',
      expiresAt: '2026-03-01T12:15:00.000Z',
      ...{ decidedAt: null, decidedBy: null, decisionReason: null },
      scopes: ['once', 'conversation', 'host'],
    });
    expect(desk.canary.heard).to.equal([]);
    expect(inside(desk.app).queue.totals()).to.include({ running: 0 });
    expect((await desk.ask('GET', `/api/chat/approvals/${approval.id}`)).body).to.equal(approval);
    const told = (await desk.ask('GET', '/api/notifications')).body.notifications[0];
    expect([told.kind, told.link]).to.equal(['approval_requested', `/approvals/${approval.id}`]);
    expect(told.body).to.contain(approval.digest.slice(0, 8)).and.to.contain(desk.canary.url);
  });

  it('takes the first of fifty answers at once', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => desk.answer(approvalId, n % 2 === 0)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).to.equal(1);
    expect(statuses.filter((status) => status === 409).length).to.equal(49);
    expect(answers.find(({ status }) => status === 409)?.body.code).to.equal('already_decided');
    const won = answers.find(({ status }) => status === 200)?.body.status;
    await desk.reaches(id);
    expect(desk.canary.heard.length).to.equal(won === 'approved' ? 1 : 0);
  });

  it('expires by itself', async () => {
    const { id } = await desk.asking();
    desk.clock.forward(15 * 60_000);
    expect((await desk.reaches(id)).result).to.equal('Done.');
    const [approval] = await desk.approvals('expired');
    expect(approval).to.include({ agentId: id, decidedBy: null });
  });

  it('asks for all calls of one answer at once, after those that need none, and waits for all', async () => {
    const { id } = await desk.asking(
      desk.post('one', 'a'),
      call('notify_send', { message: 'Halfway' }, 'b'),
      desk.post('two', 'c'),
    );
    const pending = await desk.approvals('pending');
    expect(pending.map(({ arguments: args }) => args.body)).to.equal(['two', 'one']);
    const { notifications } = (await desk.ask('GET', '/api/notifications')).body;
    expect(notifications.map(({ body }: { body: string }) => body)).to.include('Halfway');
    const [two, one] = pending;
    await desk.answer(two?.id ?? '', true);
    expect((await desk.agent(id)).status).to.equal('waiting_approval');
    expect(desk.canary.heard).to.equal([]);
    await desk.answer(one?.id ?? '', false);
    await desk.reaches(id);
    expect(desk.canary.heard.map(({ body }) => body)).to.equal(['two']);
    expect(desk.told().map((content) => content.slice(0, 15))).to.equal([
      ...['Denied by the o', '{"notified":tru', '{"url":"http://'],
    ]);
  });

  it('goes on with two answers at the same moment', async () => {
    const { id } = await desk.asking(desk.post('one', 'a'), desk.post('two', 'b'));
    const pending = await desk.approvals('pending');
    const answers = await Promise.all(pending.map((one) => desk.answer(one.id, true)));
    expect(answers.map(({ status }) => status)).to.equal([200, 200]);
    await desk.reaches(id);
    expect(desk.canary.heard.map(({ body }) => body)).to.equal(['one', 'two']);
  });

  it('reads its notification by the answer, that of several calls by the last one', async () => {
    const unread = async (): Promise<number> =>
      (await desk.ask('GET', '/api/notifications?kind=approval_requested&unread=true')).body
        .notifications.length;
    await desk.ask('POST', '/api/notifications/read-all');
    const { id } = await desk.asking(desk.post('one', 'a'), desk.post('two', 'b'));
    const [first, second] = await desk.approvals('pending');
    expect(await unread()).to.equal(1);
    await desk.answer(first?.id ?? '', true);
    expect(await unread()).to.equal(1);
    await desk.answer(second?.id ?? '', false);
    expect(await unread()).to.equal(0);
    await desk.reaches(id);
    // Nobody answered this one in time, which its owner has yet to hear.
    await desk.asking();
    desk.clock.forward(15 * 60_000);
    await inside(desk.app).approvals.expiry.tick();
    expect(await unread()).to.equal(1);
  });

  it('is void when the agent is stopped, also one that was given already', async () => {
    const { id } = await desk.asking(desk.post('one', 'a'), desk.post('two', 'b'));
    const [two] = await desk.approvals('pending');
    await desk.answer(two?.id ?? '', true);
    const stopped = await desk.ask('POST', `/api/agents/${id}/stop`);
    expect(stopped.body.status).to.equal('stopped');
    expect(await desk.approvals('pending')).to.equal([]);
    const [denied] = await desk.approvals('denied');
    expect(denied).to.include({ agentId: id, decisionReason: 'The agent was stopped' });
    await desk.ask('POST', `/api/agents/${id}/message`, { content: 'Go on' });
    expect((await desk.reaches(id, 'completed')).result).to.equal('Done.');
    expect(desk.canary.heard).to.equal([]);
  });

  it('outlives its agent, denied', async () => {
    desk.model.script(says({ toolCalls: [desk.post()] }));
    const { id } = await desk.spawn({ prompt: 'Do it' });
    const { id: approvalId } = await theOne(desk);
    expect((await desk.ask('DELETE', `/api/agents/${id}`)).status).to.equal(204);
    const { body } = await desk.ask('GET', `/api/chat/approvals/${approvalId}`);
    expect(body).to.include({ agentId: id, status: 'denied' });
    expect((await desk.answer(approvalId, true)).status).to.equal(409);
  });

  it('may be given while the agent is paused, and is not asked for twice', async () => {
    const { id } = await desk.asking();
    const first = await theOne(desk);
    await desk.ask('POST', `/api/agents/${id}/pause`);
    await desk.ask('POST', `/api/agents/${id}/resume`);
    await desk.reaches(id, 'waiting_approval');
    expect((await theOne(desk)).id).to.equal(first.id);
    await desk.ask('POST', `/api/agents/${id}/pause`);
    expect((await desk.answer(first.id, true)).body.status).to.equal('approved');
    expect((await desk.agent(id)).status).to.equal('paused');
    await desk.ask('POST', `/api/agents/${id}/resume`);
    await desk.reaches(id);
    expect(desk.canary.heard.length).to.equal(1);
  });

  it('cannot be given any more when a message came before', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    await desk.ask('POST', `/api/agents/${id}/message`, { content: 'Hurry' });
    expect((await desk.answer(approvalId, true)).status).to.equal(409);
    await desk.reaches(id);
    expect(desk.canary.heard).to.equal([]);
    expect(desk.told()).to.equal(['Not approved: the owner sent a message first. It was not run.']);
  });

  it('does not hold when a message comes after it was given', async () => {
    const { id } = await desk.asking();
    const { id: approvalId } = await theOne(desk);
    await desk.ask('POST', `/api/agents/${id}/pause`);
    await desk.answer(approvalId, true);
    await desk.ask('POST', `/api/agents/${id}/message`, { content: 'No, do not!' });
    await desk.ask('POST', `/api/agents/${id}/resume`);
    await desk.reaches(id);
    expect(desk.canary.heard).to.equal([]);
    expect(desk.told()).to.equal(['Not run: a new message arrived first.']);
  });

  it('is not asked for what nobody could read to its end', async () => {
    desk.model.script(says({ toolCalls: [desk.post('x'.repeat(300_000))] }), DONE);
    const limits = { maxAnswerTokens: 110_000 };
    const { id } = await desk.spawn({ prompt: 'Post much', limits });
    await desk.reaches(id);
    expect(desk.told()[0]).to.contain('too long to be reviewed');
  });

  it('is told on the socket’s channel when it is asked for and when it is decided', async () => {
    const heard: unknown[] = [];
    const leave = inside(desk.app).hub.listen(desk.userId, 'approval', (data) => heard.push(data));
    const { id } = await desk.asking();
    const asked = await theOne(desk);
    const { body: decided } = await desk.answer(asked.id, true);
    await desk.reaches(id);
    await untilMatches(async () => heard.length, 2);
    leave();
    expect(heard).to.equal([asked, decided]);
  });
});
