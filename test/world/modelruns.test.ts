import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startStage } from '../agents/stage.js';
import { frozenClock } from '../harness/app.js';
import { type ChatRequest, refuses, says } from '../harness/openai.js';
import { openForSuite } from '../harness/suite.js';
import {
  alternating,
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
const { describe, it, afterEach } = lab;

describe('an agent whose models refuse', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => startStage({}, clock));
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
      error:
        'No model answered. first answered 400. second answered 403: its server refused the API key. fake answered 422. Check the model: adjutant models test first',
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
      'No language model answered. only answered 400. Task not carried out: "Sum up"',
    ]);
  });

  it('is answered by the digest that was named for it', async () => {
    const { id } = await stage.spawn({ prompt: 'Sum up', model: 'digest' });
    expect((await stage.reaches(id)).result?.split('\n')[0]).to.equal(
      'The built-in digest was chosen to answer. Task not carried out: "Sum up"',
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
  const stage = openForSuite(lab, startStage);

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
  const stage = openForSuite(lab, startStage);
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
    expect(await test()).to.equal({
      ...{ ok: true, reply: 'ok', tested: ['reply', 'tool_call', 'conversation'] },
    });
    expect(stage.model.asked.map(({ body }) => rolesOf(body))).to.equal([
      'system user',
      'system user assistant tool',
    ]);
  });

  it('sends a second message to a model that calls nothing', async () => {
    stage.model.script(...always(() => pieces('ok')));
    const tested = ['reply', 'conversation'];
    expect(await test()).to.equal({ ok: true, reply: 'ok', tested });
    expect(spoken(stage.model.asked.at(-1)!.body).at(-1)).to.equal(['user', 'Say ok once more.']);
  });

  it('fails if the replies are empty', async () => {
    stage.model.script(...always(() => pieces('')));
    const error = 'openai-compatible/x sent an empty reply';
    expect(await test()).to.equal({ ok: false, error });
  });

  it('names a reply that is cut off', async () => {
    stage.model.script(...always(() => says({ text: 'Oka', finish: 'length' })));
    const reply = 'Oka (cut off at the output limit)';
    expect(await test()).to.equal({ ok: true, reply, tested: ['reply', 'conversation'] });
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
        'openai-compatible/x answered 400: it does not support tools. openai-compatible/x: it replies, but not if it is offered tools. Set supports.tools to false when you register the model: --no-tools',
      conversation:
        'openai-compatible/x answered 400. openai-compatible/x: it replies to one message, but not to a second one',
      streaming:
        'openai-compatible/x answered 400. openai-compatible/x: it replies, but does not stream. Set supports.streaming to false when you register the model: --no-streaming',
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

/**
 * Servers as their documentation describes them, connected as a person does it: the model is created
 * and tested, and then used in one conversation with a call and a second turn.
 */
describe('the servers of a new user', () => {
  const stage = openForSuite(lab, startStage);
  afterEach(() => stage.model.forget());

  /** The call of the one tool that a test offers, or of a tool that agents have. */
  const callIn = ({ tools = [] }: ChatRequest) => {
    const isTest = tools.some(({ function: { name } }) => name === 'test_echo');
    const called = isTest
      ? { name: 'test_echo', arguments: '{"word":"ok"}' }
      : { name: 'time_now', arguments: '{}' };
    return { id: 'k', type: 'function', function: called };
  };
  /** The call in two deltas. */
  const halvesOf = (request: ChatRequest): object[] => {
    const { function: called, ...rest } = callIn(request);
    const { name, arguments: args } = called;
    return [
      { index: 0, ...rest, function: { name, arguments: args.slice(0, 1) } },
      { index: 0, function: { arguments: args.slice(1) } },
    ];
  };
  const servers: Record<string, (request: ChatRequest) => object[]> = {
    'llama.cpp': (request) =>
      hasResult(request)
        ? [{ role: 'assistant', content: null }, { content: 'Noon' }, { content: '.' }]
        : [
            { reasoning_content: 'I look.' },
            ...halvesOf(request).map((half) => ({ tool_calls: [half] })),
          ],
    vLLM: (request) =>
      hasResult(request)
        ? [{ reasoning: 'Done.' }, { content: 'Noon.' }]
        : [{ role: 'assistant', content: '' }, { tool_calls: [{ index: 0, ...callIn(request) }] }],
    'LM Studio': (request) =>
      hasResult(request)
        ? [{ content: '<think>\nDone.\n</think>\n\nNoon.' }]
        : [{ role: 'assistant', tool_calls: [{ index: 0, ...callIn(request) }] }],
    deepSeek: (request) =>
      hasResult(request)
        ? [{ content: null, reasoning_content: 'Done.' }, { content: 'Noon.' }]
        : [
            { role: 'assistant', content: null, reasoning_content: 'I look.' },
            { tool_calls: [{ index: 0, ...callIn(request) }] },
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
            { tool_calls: [{ index: 0, ...callIn(request) }] },
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

  /** Creates a model and has it tested. Resolves to its name and the result of the test. */
  const connect = async (server: string, supports?: object) => {
    const name = server.replace(/\W+/g, '-');
    const given = { provider: 'openai-compatible', baseUrl: stage.model.baseUrl, supports };
    const made = await stage.ask('POST', '/api/models', { ...given, name, modelId: name });
    expect(made.status, made.text).to.equal(201);
    const { latencyMs: _, ...tested } = (await stage.ask('POST', `/api/models/${name}/test`)).body;
    return { name, tested };
  };

  /** Has an agent answer a first message, and a second one. Resolves to the results. */
  const converse = async (model: string, between = (): void => undefined) => {
    const { id } = await stage.spawn({ prompt: 'What time is it?', model });
    const { result: first } = await stage.reaches(id);
    between();
    await stage.ask('POST', `/api/agents/${id}/message`, { content: 'And now?' });
    const { result: second } = await stage.reaches(id);
    // No other model has answered in its place.
    expect(
      stage.model.asked.map(({ body }) => body.model).every((each) => each === model),
    ).to.be.true();
    return [first, second];
  };

  it('serve an agent: one that takes user and assistant in turn alone', async () => {
    const answer = (request: ChatRequest) =>
      hasResult(request)
        ? pieces('Noon.')
        : streamed({ tool_calls: [{ index: 0, ...callIn(request) }] });
    stage.model.script(...refusing(alternating, answer));
    const { name, tested } = await connect('strict');
    expect(tested).to.equal({
      ...{ ok: true, reply: 'Noon.', tested: ['reply', 'tool_call', 'conversation'] },
    });
    expect(await converse(name)).to.equal(['Noon.', 'Noon.']);
  });

  it('serve an agent: one that takes no tools', async () => {
    const refusal = ({ tools }: ChatRequest) =>
      tools ? 'this model does not support tools' : null;
    stage.model.script(...refusing(refusal, () => pieces('Noon.')));
    const { tested } = await connect('toolless');
    expect(tested).to.include({ ok: false, missing: 'tools' });
    expect(String(tested.error)).to.endWith(
      'it replies, but not if it is offered tools. Set supports.tools to false: adjutant models update toolless --no-tools',
    );
    stage.model.forget();
    stage.model.script(...refusing(refusal, () => pieces('Noon.')));
    const { name, tested: again } = await connect('plain', { tools: false });
    expect(again).to.equal({ ok: true, reply: 'Noon.', tested: ['reply', 'conversation'] });
    expect(await converse(name)).to.equal(['Noon.', 'Noon.']);
    expect(stage.model.asked.filter(({ body }) => body.tools)).to.equal([]);
  });

  for (const [server, deltas] of Object.entries(servers)) {
    it(`serve an agent: ${server}`, async () => {
      stage.model.script(...always((request) => streamed(...deltas(request))));
      const { name, tested } = await connect(server);
      expect(tested).to.equal({
        ...{ ok: true, reply: 'Noon.', tested: ['reply', 'tool_call', 'conversation'] },
      });
      const sent: Record<string, unknown>[] = [];
      const results = await converse(name, () => {
        const { messages } = stage.model.asked.at(-1)!.body;
        sent.push(...messages.filter(({ tool_calls }) => tool_calls));
      });
      expect(results).to.equal(['Noon.', 'Noon.']);
      const { reasoning_content, reasoning, reasoning_details } = sent[0] ?? {};
      const sentBack = { reasoning_content, reasoning, reasoning_details };
      expect(sentBack).to.equal({ ...NOTHING, ...SENT_BACK[server] });
    });
  }
});
