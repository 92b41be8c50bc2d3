import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { candidateModels } from '../../src/agents/candidates.js';
import { until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { type Openai, type Reply, refuses, says, startOpenai } from '../harness/openai.js';
import { call, type Stage, startStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const MODELS = [
  { name: 'far', provider: 'openai', modelId: 'm', apiKey: 'sk-far' },
  { name: 'other', provider: 'openai', modelId: 'm', apiKey: 'sk-other', fallbacks: ['far'] },
  { name: 'near', provider: 'ollama', modelId: 'm' },
  { name: 'here', provider: 'llama', modelId: 'm' },
  { name: 'house', baseUrl: 'http://10.0.0.5:8000/v1', fallbacks: ['near'] },
  { name: 'shed', baseUrl: 'http://llama:8000/v1' },
  { name: 'open', baseUrl: 'http://[fd00::5]/v1', fallbacks: ['near', 'default', 'shed'] },
  { name: 'lan', baseUrl: 'http://gpu.lan:8000/v1' },
  { name: 'tail', baseUrl: 'https://gpu.tail1234.ts.net/v1' },
  { name: 'bonjour', baseUrl: 'http://gpu.local:8000/v1' },
  { name: 'private', baseUrl: 'http://gpu.internal:8000/v1' },
  { name: 'home', baseUrl: 'http://gpu.home.arpa:8000/v1' },
  { name: 'domain', baseUrl: 'http://gpu.localdomain:8000/v1' },
  { name: 'planet', baseUrl: 'https://gpu.planet:8000/v1' },
  { name: 'nets', baseUrl: 'https://gpu.parts.net/v1' },
  { name: 'tool', provider: 'cli', modelId: 'claude' },
];

describe('the models that may answer', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
    for (const model of MODELS) {
      const given = { provider: 'openai-compatible', modelId: 'm', ...model };
      const { status, text } = await stage.ask('POST', '/api/models', given);
      expect(status, text).to.equal(201);
    }
    await stage.ask('PUT', '/api/models/routing', {
      default: 'other',
      topics: [
        { topic: 'home', primary: 'house', fallbacks: ['shed'] },
        { topic: 'away', primary: 'far', fallbacks: ['near'] },
        { topic: 'wide', primary: 'shed', fallbacks: ['default'] },
      ],
    });
  });
  after(() => stage.stop());

  const order = (model: string, topic: string | null, isUntrusted = true): string =>
    candidateModels(inside(stage.app).registry, {
      userId: stage.userId,
      model,
      topic,
      isUntrusted,
    }).join(' ');

  it('of a trusted agent end with the default and the digest', () => {
    expect(order('house', 'home', false)).to.equal('house near shed other far digest');
    expect(order('house', 'away', false)).to.equal('house near far other digest');
    expect(order('far', null, false)).to.equal('far other digest');
    expect(order('gone', null, false)).to.equal('gone other far digest');
  });

  it('of an untrusted one stay where a local model is', () => {
    expect(order('near', null)).to.equal('near digest');
    expect(order('here', null)).to.equal('here digest');
    expect(order('house', null)).to.equal('house near digest');
    expect(order('shed', null)).to.equal('shed digest');
    expect(order('shed', 'away')).to.equal('shed digest');
    expect(order('house', 'home')).to.equal('house near shed digest');
  });

  it('count names of a network of one’s own as local', () => {
    for (const name of ['lan', 'tail', 'bonjour', 'private', 'home', 'domain']) {
      expect(order(name, null)).to.equal(`${name} digest`);
    }
    for (const name of ['planet', 'nets']) {
      expect(order(name, null)).to.equal(`${name} other far digest`);
    }
  });

  it('go on to the default where the fallbacks say so', () => {
    expect(order('open', null)).to.equal('open near other far shed digest');
    expect(order('open', null, false)).to.equal('open near other far shed digest');
    expect(order('shed', 'wide')).to.equal('shed other far digest');
  });

  it('are as they were where the model is far away, or a tool of the command line', () => {
    expect(order('far', 'away')).to.equal('far near other digest');
    expect(order('tool', null)).to.equal('tool other far digest');
  });

  it('can be handed on only as far as they reach', () => {
    const within = (model: string, topic: string | null = null) =>
      inside(stage.app)
        .models.within({ userId: stage.userId, model, topic, isUntrusted: true })
        .join(' ');
    expect(within('house')).to.equal('house near digest');
    expect(within('near')).to.equal('near digest');
    expect(within('far')).to.equal('far other digest');
    expect(within('open')).to.equal('open near other far shed digest');
  });

  it('begin with the first of a topic, though it be disabled', async () => {
    await stage.ask('PATCH', '/api/models/house', { enabled: false });
    const { models } = inside(stage.app);
    expect([models.routed('home'), models.choose('home'), models.routed('none')]).to.equal([
      'house',
      'other',
      'other',
    ]);
    await stage.ask('PATCH', '/api/models/house', { enabled: true });
  });

  it('never hold a model that is called like the word for the default', async () => {
    const given = { name: 'default', provider: 'ollama', modelId: 'm' };
    const { status, body } = await stage.ask('POST', '/api/models', given);
    expect([status, body.details]).to.equal([
      400,
      [{ path: 'name', message: 'is reserved for the default model in fallbacks' }],
    ]);
  });

  it('lose a topic that is left to the default', async () => {
    await stage.ask('DELETE', '/api/models/shed');
    const { body } = await stage.ask('GET', '/api/models/routing');
    expect(body.topics.map(({ topic }: { topic: string }) => topic)).to.equal(['away', 'home']);
  });
});

describe('an untrusted agent', () => {
  let stage: Stage;
  let house: Openai;
  before(async () => {
    stage = await startStage();
    house = await startOpenai();
    const given = { name: 'house', provider: 'openai-compatible', modelId: 'm', apiKey: 'k' };
    await stage.ask('POST', '/api/models', { ...given, baseUrl: house.baseUrl });
  });
  after(async () => {
    await stage.stop();
    await house.stop();
  });
  beforeEach(() => {
    stage.model.asked.length = 0;
  });

  /** What becomes of the agent of a hook that names the model of the house. */
  const outcome = async (name: string, ...replies: Reply[]) => {
    house.script(...replies);
    stage.model.script(says({ text: 'The default answers.' }));
    const { body } = await stage.ask('POST', '/api/hooks', {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: 'a secret of some length' },
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Look', agentModel: 'house' },
    });
    const run = await stage.ask('POST', `/api/hooks/${body.id}/test`, { payload: { n: name } });
    const { agents } = await agentsOf(run.body.id);
    return stage.reaches(agents[0].id);
  };
  const agentsOf = async (executionId: string) => {
    const ask = () => stage.ask('GET', `/api/agents?executionId=${executionId}`);
    return (await until(ask, ({ body }) => body.agents.length === 1)).body;
  };

  it('fails where its local model is not well', async () => {
    const agent = await outcome('unwell', refuses(500));
    expect(agent.error).to.equal(
      'No model answered. house answered 500. Check the model: adjutant models test house',
    );
    expect(stage.model.asked).to.equal([]);
  });

  it('hands on to no model that its hook did not name', async () => {
    const delegate = call('agents_delegate', { prompt: 'Look', model: 'fake' });
    const agent = await outcome(
      'handing',
      says({ toolCalls: [delegate] }),
      says({ text: 'Not possible.' }),
    );
    expect(agent.result).to.equal('Not possible.');
    const told = (await stage.messages(agent.sessionId)).find(({ role }) => role === 'tool');
    expect(told?.content).to.equal(
      'agents.delegate: you have read untrusted content and cannot use the model fake. Available models: house, digest',
    );
    expect(stage.model.asked).to.equal([]);
  });

  it('hands on to no model of an expert', async () => {
    await stage.ask('POST', '/api/experts', {
      ...{ name: 'smith', description: 'Forges', instructions: 'Forge' },
      ...{ model: 'fake', topic: 'forge' },
    });
    const delegate = call('agents_delegate', { prompt: 'Look', expert: 'smith' });
    const agent = await outcome(
      'expert',
      says({ toolCalls: [delegate] }),
      says({ text: 'Forged.' }),
      says({ text: 'It is forged.' }),
    );
    expect(agent.result).to.equal('It is forged.');
    const { agents } = (await stage.ask('GET', `/api/agents?rootId=${agent.id}`)).body;
    const [smith] = agents.filter(({ role }: { role: string | null }) => role === 'smith');
    expect(smith).to.include({ model: 'house', topic: null, result: 'Forged.', untrusted: true });
    expect(stage.model.asked).to.equal([]);
  });

  it('goes on to the default where its model says so', async () => {
    await stage.ask('PATCH', '/api/models/house', { fallbacks: ['default'] });
    const agent = await outcome('open', refuses(500));
    expect(agent.result).to.equal('The default answers.');
  });
});
