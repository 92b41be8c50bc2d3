import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findConfinement } from '../../src/providers/confine/find.js';
import { sign, until, untilAtLeast } from '../harness/app.js';
import { type Bench, openBench } from '../harness/clitools/fake.js';
import { answers, stalls } from '../harness/clitools/speech.js';
import { says } from '../harness/openai.js';
import { processesWith } from '../providers/confine/ground.js';
import { call, removeAgents, type Stage, startStage } from './stage.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const found = await findConfinement({ allowUnconfined: false });
const confined = { skip: found?.kind !== 'bubblewrap' };

export const lab = Lab.script();
const { describe, it, before, beforeEach, after, afterEach } = lab;

const SECRET = 'a secret of some length';

describe('a command-line tool as the model of an agent (needs bubblewrap)', () => {
  let bench: Bench;
  let stage: Stage;
  before(async () => {
    bench = await openBench();
    await bench.logIn('claude');
    stage = await startStage({ cliPath: [bench.path] }, undefined, bench.home);
    const model = { name: 'mine', provider: 'cli', modelId: 'claude' };
    await stage.ask('POST', '/api/models', model);
  });
  beforeEach(() => bench.lay('claude', ...answers('claude', 'The tool says so.')));
  afterEach(async () => {
    await removeAgents(stage);
    const { body } = await stage.ask('GET', '/api/hooks');
    for (const { id } of body.hooks) await stage.ask('DELETE', `/api/hooks/${id}`);
    await stage.ask('PUT', '/api/models/routing', { topics: [] });
  });
  after(async () => {
    await stage.stop();
    await bench.clear();
  });

  const hook = (config: object = {}) =>
    stage.ask('POST', '/api/hooks', {
      name: 'pushed',
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'pushed', webhookSecret: SECRET },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look at this', agentModel: 'mine', ...config },
    });

  /** The agent that a signed delivery spawns. */
  const fire = async (): Promise<string> => {
    const body = JSON.stringify({ n: 1 });
    const headers = { 'x-hub-signature-256': sign(SECRET, body) };
    const { executions } = (await stage.call('POST', '/api/webhooks/pushed', { body, headers }))
      .body;
    const spawned = await until(
      () => stage.ask('GET', `/api/agents?executionId=${executions[0]}`),
      ({ body: { agents } }) => agents.length === 1,
    );
    return spawned.body.agents[0].id;
  };

  const pending = async () =>
    (await stage.ask('GET', '/api/chat/approvals?status=pending')).body.approvals;

  const answer = (approvalId: string, approved: boolean) =>
    stage.ask('POST', '/api/chat/approve', { approvalId, approved });

  const secondTurn = (id: string) =>
    until(
      () => stage.agent(id),
      ({ steps, status }) => steps === 2 && status === 'completed',
    );

  const saidBy = async (id: string) => {
    const events = await stage.events(id, '?limit=200');
    const said = events.findLast(({ type }) => type === 'agent.message');
    return { model: said?.data.model, passedOver: said?.data.passedOver };
  };

  it('is asked for where a payload spawned the agent, once for all of it', confined, async () => {
    await hook();
    const id = await fire();
    await stage.reaches(id, 'waiting_approval');
    expect(await processesWith(bench.path)).to.equal([]);
    const [approval, ...more] = await pending();
    expect(more).to.equal([]);
    expect(approval).to.include({
      ...{ agentId: id, tool: 'cli', action: 'claude', untrusted: true },
      reason: 'its model is a command-line tool, and the agent has read untrusted content',
    });
    expect(approval.arguments).to.equal({ model: 'mine', modelId: 'claude' });
    await answer(approval.id, true);
    expect((await stage.reaches(id)).result).to.equal('The tool says so.');
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'And now?' });
    const again = await secondTurn(id);
    expect(again.result).to.equal('The tool says so.');
    expect(await pending()).to.equal([]);
  });

  it('is passed over where the owner says no, without another question', confined, async () => {
    await hook();
    stage.model.script(says({ text: 'The other says so.' }), says({ text: 'And again.' }));
    const id = await fire();
    await stage.reaches(id, 'waiting_approval');
    const [approval] = await pending();
    await answer(approval.id, false);
    expect((await stage.reaches(id)).result).to.equal('The other says so.');
    const because =
      'it is a command-line tool, which an untrusted agent may use only with an approval';
    expect(await saidBy(id)).to.equal({
      model: 'fake',
      passedOver: [{ model: 'mine', because }],
    });
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'And now?' });
    expect((await secondTurn(id)).result).to.equal('And again.');
    expect(await pending()).to.equal([]);
  });

  it('answers at once where the hook grants it, and by its right name', confined, async () => {
    const wrong = await hook({ agentTools: ['cli:cloud'] });
    expect([wrong.status, wrong.body.details[0].path]).to.equal([400, 'actionConfig.agentTools.0']);
    await hook({ agentTools: ['cli:claude'] });
    const id = await fire();
    expect((await stage.reaches(id)).result).to.equal('The tool says so.');
    expect(await pending()).to.equal([]);
  });

  it('is not granted by the grant of another tool, nor by all of its words', confined, async () => {
    await hook({ agentTools: ['cli:codex', 'http'] });
    const id = await fire();
    await stage.reaches(id, 'waiting_approval');
    expect((await pending()).length).to.equal(1);
  });

  it(
    'is never a mere fallback of an agent that reads what came from outside',
    confined,
    async () => {
      await stage.ask('PUT', '/api/models/routing', {
        topics: [{ topic: 'pushes', primary: 'fake', fallbacks: ['mine'] }],
      });
      await hook({ agentModel: undefined, agentTopic: 'pushes' });
      stage.model.script((response) => response.destroy());
      const id = await fire();
      const { status, error } = await stage.reaches(id);
      expect([status, error]).to.equal([
        'failed',
        'No model answered. fake at 127.0.0.1: the connection was interrupted. ' +
          'mine: it is a command-line tool, which an untrusted agent may use only with an approval. Check the model: adjutant models test fake',
      ]);
      expect(await pending()).to.equal([]);
    },
  );

  it('is asked for where the conversation has read what came from outside', confined, async () => {
    await hook({ agentModel: 'fake' });
    stage.model.script(says({ text: 'Seen.' }));
    const { sessionId } = await stage.reaches(await fire());
    const { id } = await stage.spawn({ prompt: 'And now?', sessionId, model: 'mine' });
    await stage.reaches(id, 'waiting_approval');
    const [approval] = await pending();
    expect([approval.agentId, approval.tool]).to.equal([id, 'cli']);
  });

  it('does a part of the task as the model of a sub-agent', confined, async () => {
    stage.model.script(
      says({ toolCalls: [call('agents_delegate', { prompt: 'Say it', model: 'mine' })] }),
      says({ toolCalls: [call('agents_delegate', { prompt: 'Say it', model: 'nobody' }, 'c2')] }),
      says({ text: 'Done.' }),
    );
    const { id, sessionId } = await stage.spawn({ prompt: 'Delegate' });
    expect((await stage.reaches(id)).result).to.equal('Done.');
    const results = (await stage.messages(sessionId)).filter(({ role }) => role === 'tool');
    expect(results[0]?.content).to.match(/^Reply of .*:\n\nThe tool says so\.$/);
    expect(results[1]?.content).to.contain(
      'unknown model nobody. Available models: mine, fake, digest',
    );
  });

  it('is gone when its agent is stopped', confined, async () => {
    await bench.lay('claude', ...stalls('claude', 'It is '));
    const { id } = await stage.spawn({ prompt: 'What?', model: 'mine' });
    await untilAtLeast(() => processesWith(bench.path), 1);
    await stage.ask('POST', `/api/agents/${id}/stop`);
    expect(await processesWith(bench.path)).to.equal([]);
    expect((await stage.agent(id)).status).to.equal('stopped');
  });
});
