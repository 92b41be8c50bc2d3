import { createHmac } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { hangs, type Reply, says } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const SECRET = 'a secret of some length';

describe('an agent of a hook', () => {
  let stage: Stage;
  let reply: Reply;
  let answers: (() => void)[];
  before(async () => {
    stage = await startStage();
    stage.model.script(
      ...Array.from(
        { length: 100 },
        (): Reply =>
          (...of) =>
            reply(...of),
      ),
    );
  });
  after(() => stage.stop());
  beforeEach(() => {
    answers = [];
    stage.model.asked.length = 0;
  });

  const hook = async (name: string, config: object = {}, more: object = {}): Promise<string> => {
    const { body, text, status } = await stage.ask('POST', '/api/hooks', {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look at this', ...config },
      ...more,
    });
    if (status !== 201) throw new Error(text);
    return body.id;
  };

  const fire = async (path: string, payload: object = { n: 1 }): Promise<string> => {
    const body = JSON.stringify(payload);
    const headers = { 'x-hub-signature-256': sign(SECRET, body), 'x-github-event': 'push' };
    const reply = await stage.call('POST', `/api/webhooks/${path}`, { body, headers });
    expect(reply.status).to.equal(202);
    return reply.body.executions[0];
  };

  const agentOf = async (executionId: string): Promise<string> => {
    const { body } = await until(
      () => stage.ask('GET', `/api/agents?executionId=${executionId}`),
      (found) => found.body.agents.length === 1,
    );
    return body.agents[0].id;
  };

  const execution = async (hookId: string, id: string) => {
    const { body } = await stage.ask('GET', `/api/hooks/${hookId}/executions`);
    return body.executions.find((one: { id: string }) => one.id === id);
  };

  const notifications = async () =>
    (await stage.ask('GET', '/api/notifications')).body.notifications;

  const held: Reply = (...of) => {
    answers.push(() => says({ text: 'Seen.' })(...of));
  };

  it('is given the prompt of rule 7 to the letter and is untrusted', async () => {
    reply = says({ text: 'Seen.' });
    await hook('letter');
    const id = await agentOf(await fire('letter', { a: [1, 'ü'] }));
    await stage.reaches(id);
    expect(stage.model.asked[0]?.body.messages[1]).to.equal({
      role: 'user',
      content: 'Look at this\n\n--- Webhook Payload ---\n{"a":[1,"ü"]}\nEvent type: push',
    });
    expect((await stage.ask('GET', `/api/agents/${id}`)).body.untrusted).to.be.true();
  });

  it('is told no event where no header told one, though the payload of Stripe does', async () => {
    reply = says({ text: 'Seen.' });
    const hookId = await hook('refunds');
    const body = '{"type":"refund.created"}';
    const at = Math.floor(Date.now() / 1000);
    const mac = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex');
    const headers = { 'stripe-signature': `t=${at},v1=${mac}` };
    const sent = await stage.call('POST', '/api/webhooks/refunds', { body, headers });
    const executionId = sent.body.executions[0];
    await stage.reaches(await agentOf(executionId));
    expect(stage.model.asked[0]?.body.messages[1]).to.equal({
      role: 'user',
      content: `Look at this\n\n--- Webhook Payload ---\n${body}`,
    });
    const { triggerContext } = await execution(hookId, executionId);
    expect(triggerContext.event).to.equal('refund.created');
  });

  it('waits for its owner, without holding a slot, before it does what has effects', async () => {
    reply = (...of) =>
      says({ toolCalls: [call('http_request', { method: 'GET', url: 'http://example.org' })] })(
        ...of,
      );
    const hookId = await hook('bare', {}, { concurrency: 1 });
    const executionId = await fire('bare');
    const bare = await agentOf(executionId);
    await stage.reaches(bare, 'waiting_approval');
    expect((await execution(hookId, executionId)).status).to.equal('running');
    const { approvals } = (await stage.ask('GET', '/api/chat/approvals?status=pending')).body;
    expect(Date.parse(approvals[0].expiresAt) - Date.parse(approvals[0].createdAt)).to.equal(
      24 * 3600 * 1000,
    );
    reply = says({ text: 'Seen.' });
    await stage.reaches(await agentOf(await fire('bare')));
    const answer = { approvalId: approvals[0].id, approved: false };
    expect((await stage.ask('POST', '/api/chat/approve', answer)).status).to.equal(200);
    await stage.reaches(bare);
    expect((await execution(hookId, executionId)).status).to.equal('success');
  });

  it('keeps an agent in its session untrusted too', async () => {
    reply = says({ text: 'Seen.' });
    await hook('taint');
    const id = await agentOf(await fire('taint'));
    const { sessionId } = await stage.reaches(id);
    const next = await stage.ask('POST', '/api/agents', { prompt: 'And you?', sessionId });
    expect([next.status, next.body.untrusted]).to.equal([201, true]);
    await stage.reaches(next.body.id);
  });

  it('ends its execution with its own outcome and tells the owner exactly once', async () => {
    reply = says({ text: 'All green.\nNothing to do.' });
    const hookId = await hook('owner', { notifyOwner: true });
    const executionId = await fire('owner');
    const id = await agentOf(executionId);
    await stage.reaches(id);
    expect(await execution(hookId, executionId)).to.include({
      status: 'success',
      agentId: id,
      result: { text: 'All green.\nNothing to do.' },
      error: null,
    });
    await stage.restart();
    const told = (await notifications()).filter(({ link }: { link: string }) => link.endsWith(id));
    expect(told.length).to.equal(1);
    expect(told[0].kind).to.equal('agent_completed');
    expect(told[0].title).to.match(/^owner-\w{6}$/);
    expect(told[0].body).to.equal('All green.\nNothing to do.');
  });

  it('holds the slot of its hook and frees it while paused', async () => {
    reply = held;
    await hook('slots', {}, { concurrency: 1 });
    const first = await agentOf(await fire('slots'));
    await untilMatches(async () => answers.length, 1);
    const waiting = await fire('slots');
    expect((await stage.ask('GET', `/api/agents?executionId=${waiting}`)).body.agents).to.equal([]);
    await stage.ask('POST', `/api/agents/${first}/pause`);
    const second = await agentOf(waiting);
    await untilMatches(async () => answers.length, 2);
    await stage.ask('POST', `/api/agents/${first}/resume`);
    expect((await stage.agent(first)).status).to.equal('queued');
    answers[1]?.();
    await stage.reaches(second, 'completed');
    await untilMatches(async () => answers.length, 3);
    answers[2]?.();
    expect((await stage.reaches(first)).status).to.equal('completed');
  });

  for (const [verb, method, path] of [
    ['stopped', 'POST', '/stop'],
    ['removed', 'DELETE', ''],
  ] as const) {
    it(`ends its execution as an error when it is ${verb}, and says so live`, async () => {
      reply = hangs;
      const hookId = await hook(verb);
      const heard: unknown[] = [];
      const leave = inside(stage.app).hub.listen(stage.userId, 'hook.execution', (data) =>
        heard.push(Object(data).status),
      );
      const executionId = await fire(verb);
      const id = await agentOf(executionId);
      await untilMatches(async () => stage.model.asked.length, 1);
      await stage.ask(method, `/api/agents/${id}${path}`);
      expect(await execution(hookId, executionId)).to.include({
        status: 'error',
        error: 'stopped',
      });
      await until(
        async () => heard,
        (states) => states.includes('error'),
      );
      leave();
    });
  }

  it('fires the hooks that wait for its end, in the same transaction, once', async () => {
    reply = says({ text: 'Finished.' });
    const { body } = await stage.ask('POST', '/api/hooks', {
      name: 'afterwards',
      trigger: 'agent_completed',
      triggerConfig: {},
      action: 'notify',
      actionConfig: { notifyMessage: 'It said: {{agent.result}}' },
    });
    const { id } = await stage.spawn({ prompt: 'Finish' });
    await stage.reaches(id);
    const executions = async () =>
      (await stage.ask('GET', `/api/hooks/${body.id}/executions`)).body.executions;
    const [execution, ...more] = await until(executions, ([one]) => one?.status === 'success');
    expect(more).to.equal([]);
    expect(execution.result).to.equal({ message: 'It said: Finished.' });
    await stage.ask('DELETE', `/api/hooks/${body.id}`);
  });

  it('tells its execution and its hooks that its result was cut off', async () => {
    const note = "The reply was cut off at the model's output limit.";
    reply = says({ text: 'A part of', finish: 'length' });
    const { body } = await stage.ask('POST', '/api/hooks', {
      name: 'behind',
      trigger: 'agent_completed',
      triggerConfig: {},
      action: 'notify',
      actionConfig: { notifyMessage: '{{agent.result}}' },
    });
    const hookId = await hook('cut');
    const executionId = await fire('cut');
    await stage.reaches(await agentOf(executionId));
    const { result } = await execution(hookId, executionId);
    expect(result).to.equal({ text: 'A part of', note });
    const executions = async () =>
      (await stage.ask('GET', `/api/hooks/${body.id}/executions`)).body.executions;
    const [fired] = await until(executions, ([one]) => one?.status === 'success');
    expect(fired.result).to.equal({ message: `A part of\n\n${note}` });
    await stage.ask('DELETE', `/api/hooks/${body.id}`);
  });
});
