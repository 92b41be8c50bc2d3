import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { mind, type Read } from '../../agents/mind.js';
import { call, type Stage, startStage } from '../../agents/stage.js';
import { frozenClock, sign, until } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { type Reply, says } from '../../harness/openai.js';
import { openTarget, type Target } from '../../harness/target.js';
import type { ModelOutput } from '../../harness/wire.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const NOW = '2026-03-01T12:00:00.000Z';
const SECRET = 'a secret of some length';

interface Event {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

describe('events for webhooks', () => {
  let stage: Stage;
  let target: Target;
  let think: (read: Read) => ModelOutput | Reply;
  before(async () => {
    target = await openTarget();
    const clock = frozenClock(Date.parse(NOW));
    stage = await startStage({ egressAllow: ['127.0.0.1'] }, clock);
    stage.model.script(...mind((read) => think(read)));
  });
  afterEach(async () => {
    const { body } = await stage.ask('GET', '/api/webhooks');
    for (const { id } of body.webhooks) await stage.ask('DELETE', `/api/webhooks/${id}`);
    target.received.length = 0;
  });
  after(async () => {
    await stage.stop();
    target.close();
  });

  const subscribe = (...events: string[]) =>
    stage.ask('POST', '/api/webhooks', { name: 'app', url: target.url, events });
  const events = (): Event[] => target.received.map(({ body }) => JSON.parse(body));
  /** What came, once it is so much and nothing more is on the way. */
  const settled = async (count: number): Promise<Event[]> => {
    await target.got(count);
    const { db } = stage.app.store;
    await until(
      () => db.selectFrom('jobs').select(['kind', 'ref']).execute(),
      (jobs) => jobs.length === 0,
    );
    return events();
  };
  const typesOf = async (count: number) => (await settled(count)).map(({ type }) => type).sort();
  const hook = async (name: string, more: object): Promise<string> => {
    const { body, text } = await stage.ask('POST', '/api/hooks', {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: SECRET },
      ...more,
    });
    if (!body.id) throw new Error(text);
    return body.id;
  };
  const fire = async (path: string, payload: object = {}): Promise<string> => {
    const body = JSON.stringify(payload);
    const headers = { 'x-hub-signature-256': sign(SECRET, body), 'x-github-event': 'push' };
    const reply = await stage.call('POST', `/api/webhooks/${path}`, { body, headers });
    return reply.body.executions[0];
  };
  const agentOf = async (executionId: string): Promise<string> => {
    const { body } = await until(
      () => stage.ask('GET', `/api/agents?executionId=${executionId}`),
      (found) => found.body.agents.length === 1,
    );
    return body.agents[0].id;
  };

  it('tell of an agent that completed, each time that it does', async () => {
    think = () => ({ text: `Done.${'!'.repeat(3000)}` });
    await subscribe('agent.completed');
    const agent = await stage.spawn({ prompt: 'Do it', name: 'doer' });
    const [event] = await settled(1);
    expect(event).to.equal({
      type: 'agent.completed',
      timestamp: NOW,
      data: {
        ...{ agentId: agent.id, name: 'doer', status: 'completed', model: 'fake' },
        ...{ untrusted: false, hookId: null, executionId: null },
        result: `Done.${'!'.repeat(1995)}\n… 1005 more characters`,
        links: {
          agent: `/api/agents/${agent.id}`,
          messages: `/api/sessions/${agent.sessionId}/messages`,
        },
      },
    });
    await stage.ask('POST', `/api/agents/${agent.id}/message`, { content: 'Again' });
    expect((await settled(2)).map(({ data }) => data.agentId)).to.equal([agent.id, agent.id]);
  });

  it('tell of an agent that failed', async () => {
    think = () => ({ toolCalls: [call('time_now')] });
    await subscribe('agent.completed', 'agent.failed');
    const { id } = await stage.spawn({ prompt: 'Do it', limits: { maxSteps: 1 } });
    const { status, error } = await stage.reaches(id);
    expect(status).to.equal('failed');
    const [event] = await settled(1);
    expect([event?.type, event?.data.agentId, event?.data.error]).to.equal([
      'agent.failed',
      id,
      error,
    ]);
  });

  it('leave the end of a sub-agent to its parent', async () => {
    think = ({ task, results }) => {
      if (task !== 'Both') return { text: 'I did it' };
      if (results.length > 0) return { text: 'All done' };
      return { toolCalls: [call('agents_delegate', { prompt: 'A part' })] };
    };
    await subscribe('*');
    const { id } = await stage.spawn({ prompt: 'Both' });
    await stage.reaches(id);
    expect((await settled(1)).map(({ data }) => data.agentId)).to.equal([id]);
  });

  it('tell of a hook’s run when the agent that it spawned has ended, and once', async () => {
    think = () => ({ text: 'Seen.' });
    await subscribe('*');
    const action = { action: 'spawn_agent', actionConfig: { agentPrompt: 'Look' } };
    const hookId = await hook('spawning', action);
    const executionId = await fire('spawning');
    const agentId = await agentOf(executionId);
    expect(await typesOf(2)).to.equal(['agent.completed', 'hook.executed']);
    const event = events().find(({ type }) => type === 'hook.executed');
    expect(event?.data).to.equal({
      ...{ executionId, hookId, hookName: 'spawning', trigger: 'webhook', action: 'spawn_agent' },
      ...{ event: 'push', agentId, status: 'success', result: 'Seen.' },
      links: {
        hook: `/api/hooks/${hookId}`,
        execution: `/api/hooks/${hookId}/executions/${executionId}`,
        agent: `/api/agents/${agentId}`,
      },
    });
    await stage.ask('POST', `/api/agents/${agentId}/message`, { content: 'And now?' });
    expect(await typesOf(3)).to.equal(['agent.completed', 'agent.completed', 'hook.executed']);
  });

  it('tell of a hook’s run as failed where its agent is stopped', async () => {
    think = () => () => undefined;
    await subscribe('*');
    await hook('hanging', { action: 'spawn_agent', actionConfig: { agentPrompt: 'Look' } });
    const agentId = await agentOf(await fire('hanging'));
    await stage.reaches(agentId, 'running');
    await stage.ask('POST', `/api/agents/${agentId}/stop`);
    const [event] = await settled(1);
    expect([event?.type, event?.data.status, event?.data.error, event?.data.agentId]).to.equal([
      ...['hook.failed', 'error', 'stopped'],
      agentId,
    ]);
    expect(events().length).to.equal(1);
  });

  it('tell of a run that failed, and of none that its conditions stopped', async () => {
    await subscribe('hook.failed', 'hook.executed');
    const condition = { field: 'webhook.body.n', operator: 'equals', value: 1 };
    const action = {
      action: 'execute_tool',
      actionConfig: { toolId: 'http', toolAction: 'request', toolParams: { url: 'http://[::]/' } },
      conditions: [condition],
    };
    await hook('failing', action);
    await fire('failing', { n: 2 });
    const executionId = await fire('failing', { n: 1 });
    const [event] = await settled(1);
    expect(event?.type).to.equal('hook.failed');
    expect(event?.data).to.include({ executionId, status: 'error', agentId: null });
    expect(events().length).to.equal(1);
  });

  it('tell of a call that waits for its owner, without its arguments', async () => {
    await subscribe('approval.requested');
    const approvalId = await askApproval(stage, stage.userId);
    const { body } = await stage.ask('GET', `/api/chat/approvals/${approvalId}`);
    const [event] = await settled(1);
    expect(event).to.equal({
      type: 'approval.requested',
      timestamp: NOW,
      data: {
        approvalId,
        agentId: null,
        asker: 'A direct call',
        tool: 'http',
        action: 'request',
        digest: body.digest,
        untrusted: false,
        expiresAt: body.expiresAt,
        links: { approval: `/api/chat/approvals/${approvalId}` },
      },
    });
  });

  it('tell of an agent’s call that waits once', async () => {
    think = () => ({
      toolCalls: [call('http_request', { method: 'POST', url: 'http://127.0.0.1:9/' })],
    });
    await subscribe('*');
    const { id } = await stage.spawn({ prompt: 'Post it' });
    await stage.reaches(id, 'waiting_approval');
    const [event] = await settled(1);
    expect([event?.type, event?.data.agentId]).to.equal(['approval.requested', id]);
    await stage.ask('POST', `/api/agents/${id}/stop`);
  });

  it('cost nothing where nobody wants them', async () => {
    const { db } = stage.app.store;
    await db.deleteFrom('outgoing_events').execute();
    think = () => ({ text: 'Done.' });
    await subscribe('hook.failed');
    const stranger = await stage.register('stranger');
    await stage.call('POST', '/api/webhooks', {
      token: stranger.token,
      body: { name: 'theirs', url: target.url, events: ['*'] },
    });
    const { id } = await stage.spawn({ prompt: 'Do it' });
    await stage.reaches(id);
    expect(await settled(0)).to.equal([]);
    expect(await db.selectFrom('outgoing_events').select('type').execute()).to.equal([]);
  });

  it('stop where the webhook is disabled, and go on where it is enabled', async () => {
    think = () => says({ text: 'Done.' });
    const { id } = (await subscribe('agent.completed')).body;
    const run = async () => stage.reaches((await stage.spawn({ prompt: 'Do it' })).id);
    await stage.ask('PATCH', `/api/webhooks/${id}`, { enabled: false });
    await run();
    expect(await settled(0)).to.equal([]);
    await stage.ask('PATCH', `/api/webhooks/${id}`, { enabled: true });
    await run();
    expect((await settled(1)).length).to.equal(1);
  });
});
