import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Stage, startStage } from '../agents/stage.js';
import { frozenClock } from '../harness/app.js';
import { type ChatRequest, refuses, says } from '../harness/openai.js';
import {
  always,
  calling,
  hasResult,
  pieces,
  refusing,
  rolesOf,
  spoken,
  streamed,
} from './modelservers.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

describe('an agent whose models refuse', () => {
  const clock = frozenClock();
  let stage: Stage;
  before(async () => {
    stage = await startStage({}, clock);
  });
  after(() => stage.stop());
  afterEach(() => {
    stage.model.forget();
    clock.forward(11 * 60_000);
  });

  it('fails, and names each model with its reason', async () => {
    const given = { provider: 'openai-compatible', modelId: 'x', baseUrl: stage.model.baseUrl };
    await stage.ask('POST', '/api/models', { ...given, name: 'second' });
    await stage.ask('POST', '/api/models', { ...given, name: 'first', fallbacks: ['second'] });
    stage.model.script(refuses(400), refuses(403), refuses(422));
    const { id } = await stage.spawn({ prompt: 'Sum up', model: 'first' });
    expect(await stage.reaches(id)).to.include({
      status: 'failed',
      result: null,
      error: 'No model answered. first answered 400. second answered 403. fake answered 422.',
    });
  });

  it('is answered by the digest if its owner chose that, which names them too', async () => {
    const given = { provider: 'openai-compatible', modelId: 'x', baseUrl: stage.model.baseUrl };
    const named = { ...given, name: 'only', fallbacks: ['digest'] };
    await stage.ask('POST', '/api/models', named);
    stage.model.script(refuses(400));
    const { id } = await stage.spawn({ prompt: 'Sum up', model: 'only' });
    const { status, result } = await stage.reaches(id);
    expect([status, result?.split('\n')[0]]).to.equal([
      'completed',
      'No language model answered. only answered 400. This was not worked on: "Sum up"',
    ]);
  });

  it('is answered by the digest that was named for it', async () => {
    const { id } = await stage.spawn({ prompt: 'Sum up', model: 'digest' });
    expect((await stage.reaches(id)).result?.split('\n')[0]).to.equal(
      'The built-in digest was chosen to answer. This was not worked on: "Sum up"',
    );
  });
});

it('lets the digest answer for the model of the settings if these say so', async () => {
  const stage = await startStage({ modelDigest: true });
  stage.model.script(refuses(400));
  const { id } = await stage.spawn({ prompt: 'Sum up' });
  expect((await stage.reaches(id)).status).to.equal('completed');
  await stage.stop();
});

describe('a result that was cut off', () => {
  const NOTE = "The reply was cut off at the model's output limit.";
  let stage: Stage;
  before(async () => {
    stage = await startStage();
  });
  after(() => stage.stop());

  it('has a note at its agent, until the agent gets another turn', async () => {
    stage.model.script(says({ text: 'A part of', finish: 'length' }), pieces('All.'));
    const { id } = await stage.spawn({ prompt: 'Begin' });
    expect(await stage.reaches(id)).to.include({ result: 'A part of', note: NOTE });
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'Go on' });
    expect(await stage.reaches(id)).to.include({ result: 'All.', note: null });
  });
});

it('tells an agent the date in the time zone of its owner', async () => {
  const clock = frozenClock(Date.parse('2026-03-01T23:30:00.000Z'));
  const stage = await startStage({}, clock);
  stage.model.script(pieces('Yes.'), pieces('Yes.'));
  await stage.reaches((await stage.spawn({ prompt: 'Tomorrow?' })).id);
  const quietHours = { enabled: false, from: '22:00', to: '07:00', timezone: 'Europe/Berlin' };
  await stage.ask('PUT', '/api/notifications/preferences', { quietHours });
  await stage.reaches((await stage.spawn({ prompt: 'Tomorrow?' })).id);
  const lines = stage.model.asked.map(({ body }) =>
    String(body.messages[0]?.content).split('\n').at(-1),
  );
  expect(lines).to.equal([
    'Today is Sunday, 2026-03-01. The time zone of your owner is UTC.',
    'Today is Monday, 2026-03-02. The time zone of your owner is Europe/Berlin.',
  ]);
  await stage.stop();
});

describe('a test of a model', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
  });
  after(() => stage.stop());
  afterEach(() => stage.model.forget());

  const test = async () => {
    const given = {
      provider: 'openai-compatible',
      modelId: 'x',
      baseUrl: stage.model.baseUrl,
    };
    const { latencyMs: _, ...probed } = (await stage.ask('POST', '/api/models/test', given)).body;
    return probed;
  };
  const answer = (request: ChatRequest) =>
    request.tools && !hasResult(request) ? calling('test_echo', '{"word":"ok"}') : pieces('ok');

  it('offers a tool and sends its result', async () => {
    stage.model.script(...always(answer));
    expect(await test()).to.equal({ ok: true, reply: 'ok' });
    expect(stage.model.asked.map(({ body }) => rolesOf(body))).to.equal([
      'system user',
      'system user assistant tool',
    ]);
  });

  it('sends a second message to a model that calls nothing', async () => {
    stage.model.script(...always(() => pieces('ok')));
    expect(await test()).to.equal({ ok: true, reply: 'ok' });
    expect(spoken(stage.model.asked.at(-1)!.body).at(-1)).to.equal(['user', 'Say ok once more.']);
  });

  it('names the feature that is missing', async () => {
    const broken = {
      tools: ({ tools }: ChatRequest) => (tools ? 'this model does not support tools' : null),
      conversation: ({ messages }: ChatRequest) =>
        messages.length > 2 ? 'one message only' : null,
      streaming: ({ stream }: ChatRequest) => (stream ? 'no streams' : null),
    };
    const sentences = {
      tools:
        'openai-compatible/x answered 400: it takes no tools (register it with supports.tools false, or choose another model). openai-compatible/x: it answers, but not if it is offered tools. Set supports.tools to false to use it without',
      conversation:
        'openai-compatible/x answered 400. openai-compatible/x: it answers one message, but not a second one',
      streaming:
        'openai-compatible/x answered 400. openai-compatible/x: it answers, but does not stream. Set supports.streaming to false',
    };
    for (const feature of ['tools', 'conversation', 'streaming'] as const) {
      const whole = (request: ChatRequest) =>
        request.stream ? answer(request) : says({ text: 'ok' });
      stage.model.script(...refusing(broken[feature], whole));
      expect(await test()).to.equal({ ok: false, error: sentences[feature], missing: feature });
      stage.model.forget();
    }
  });
});

/** Servers as their documentation describes them, in one conversation with a call and a second turn. */
describe('the servers of a new user', () => {
  let stage: Stage;
  before(async () => {
    stage = await startStage();
  });
  after(() => stage.stop());
  afterEach(() => stage.model.forget());

  const call = { id: 'k', type: 'function', function: { name: 'time_now', arguments: '{}' } };
  const servers: Record<string, (request: ChatRequest) => object[]> = {
    'llama.cpp': (request) =>
      hasResult(request)
        ? [{ role: 'assistant', content: null }, { content: 'Noon' }, { content: '.' }]
        : [
            { reasoning_content: 'I look.' },
            { tool_calls: [{ index: 0, ...call, function: { name: 'time_now', arguments: '{' } }] },
            { tool_calls: [{ index: 0, function: { arguments: '}' } }] },
          ],
    vLLM: (request) =>
      hasResult(request)
        ? [{ reasoning: 'Done.' }, { content: 'Noon.' }]
        : [{ role: 'assistant', content: '' }, { tool_calls: [{ index: 0, ...call }] }],
    'LM Studio': (request) =>
      hasResult(request)
        ? [{ content: '<think>\nDone.\n</think>\n\nNoon.' }]
        : [{ role: 'assistant', tool_calls: [{ index: 0, ...call }] }],
    deepSeek: (request) =>
      hasResult(request)
        ? [{ content: null, reasoning_content: 'Done.' }, { content: 'Noon.' }]
        : [
            { role: 'assistant', content: null, reasoning_content: 'I look.' },
            { tool_calls: [{ index: 0, ...call }] },
          ],
    openRouter: (request) =>
      hasResult(request)
        ? [{ role: 'assistant', content: 'Noon.', reasoning: null }]
        : [
            {
              content: '',
              reasoning: 'I look.',
              reasoning_details: [{ type: 'reasoning.text', text: 'I ', index: 0 }],
            },
            { reasoning_details: [{ type: 'reasoning.text', text: 'look.', index: 0 }] },
            { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 1 }] },
            { tool_calls: [{ index: 0, ...call }] },
          ],
  };

  const NOTHING = {
    reasoning_content: undefined,
    reasoning: undefined,
    reasoning_details: undefined,
  };
  const SENT_BACK: Record<string, object> = {
    'llama.cpp': { reasoning_content: 'I look.' },
    deepSeek: { reasoning_content: 'I look.' },
    openRouter: {
      reasoning_details: [
        { type: 'reasoning.text', text: 'I look.', index: 0 },
        { type: 'reasoning.encrypted', data: 'x', index: 1 },
      ],
    },
  };

  for (const [name, deltas] of Object.entries(servers)) {
    it(`serve an agent: ${name}`, async () => {
      stage.model.script(...always((request) => streamed(...deltas(request))));
      const { id } = await stage.spawn({ prompt: 'What time is it?' });
      expect(await stage.reaches(id)).to.include({ status: 'completed', result: 'Noon.' });
      const sent = stage.model.asked.at(-1)!.body.messages.find(({ tool_calls }) => tool_calls);
      const { reasoning_content, reasoning, reasoning_details } = sent ?? {};
      const sentBack = { reasoning_content, reasoning, reasoning_details };
      expect(sentBack).to.equal({ ...NOTHING, ...SENT_BACK[name] });
    });
  }
});
