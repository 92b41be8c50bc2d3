import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp } from '../../../src/kernel/http.js';
import { type ModelOptions, openAiSdkModel } from '../../../src/providers/llm/create.js';
import { ModelFailure, type ModelRequest, type Turn } from '../../../src/providers/llm/model.js';
import { type Openai, type Reply, says, stalls, startOpenai } from '../../harness/openai.js';

export const lab = Lab.script();
const { describe, it, after, afterEach } = lab;

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

const http = createHttp({ allow: [] });
let openai: Openai;
const modelOf = async (options: Partial<ModelOptions>, ...script: Reply[]) => {
  openai = await startOpenai(...script);
  const { baseUrl } = openai;
  return openAiSdkModel({
    name: 'house/fake',
    provider: 'openai-compatible',
    modelId: 'fake-1',
    baseUrl,
    contextWindow: 8000,
    fetch: http.fetchFor(baseUrl),
    ...options,
  });
};

const stepOf = (step: Partial<ModelRequest> = {}): ModelRequest => ({
  turns: [{ role: 'user', content: 'Weather in Oslo?' }],
  tools: [],
  signal: new AbortController().signal,
  ...step,
});

/** A step that streams, and what it streamed. */
const streaming = (step: Partial<ModelRequest> = {}) => {
  const heard: string[] = [];
  return { heard, step: stepOf({ onText: (delta) => heard.push(delta), ...step }) };
};

/** Every kind of turn there is, with two calls in one answer. */
const EVERY_KIND: Turn[] = [
  { role: 'system', content: 'Be short.' },
  { role: 'user', content: 'Oslo? Bergen?' },
  {
    role: 'assistant',
    content: '',
    toolCalls: [
      { id: 'c1', name: 'weather', arguments: { city: 'Oslo' } },
      { id: 'c2', name: 'weather', arguments: { city: 'Bergen' } },
    ],
  },
  { role: 'tool', toolCallId: 'c1', toolName: 'weather', content: 'rain' },
  { role: 'tool', toolCallId: 'c2', toolName: 'weather', content: 'more rain' },
  { role: 'assistant', content: 'Rain.', toolCalls: [] },
  { role: 'user', content: 'Sure?' },
];

describe('a model that speaks as OpenAI’s do', () => {
  afterEach(() => openai.stop());
  after(() => http.close());

  it('names itself', async () => {
    const model = await modelOf({ provider: 'litellm' });
    expect(model).to.include({ name: 'house/fake', provider: 'litellm', contextWindow: 8000 });
  });

  it('hands streamed text on as it comes', async () => {
    const model = await modelOf({}, says({ text: 'Rain all day.' }));
    const { heard, step } = streaming();
    expect(await model.step(step)).to.equal({
      text: 'Rain all day.',
      toolCalls: [],
      usage: { inputTokens: 10, outputTokens: 5, costUsd: null },
      finish: 'stop',
    });
    expect(heard).to.equal(['Rain ', 'all ', 'day.']);
    expect(openai.asked[0]?.body).to.equal({
      model: 'fake-1',
      messages: [{ role: 'user', content: 'Weather in Oslo?' }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('asks for one JSON reply where nobody listens to pieces', async () => {
    const model = await modelOf({}, says({ text: 'Rain.' }));
    const { text, finish } = await model.step(stepOf());
    expect({ text, finish, stream: openai.asked[0]?.body.stream }).to.equal({
      text: 'Rain.',
      finish: 'stop',
      stream: undefined,
    });
  });

  it('hands the text over in one piece where the endpoint cannot stream', async () => {
    const model = await modelOf({ streaming: false }, says({ text: 'Rain all day.' }));
    const { heard, step } = streaming();
    await model.step(step);
    expect(heard).to.equal(['Rain all day.']);
    expect(openai.asked[0]?.body.stream).to.be.undefined();
  });

  it('sends every kind of turn, tools, key and limit as the protocol wants them', async () => {
    const model = await modelOf({ apiKey: 'sk-canary' }, says({ text: 'Wet.' }));
    await model.step(
      stepOf({
        turns: EVERY_KIND,
        tools: [WEATHER],
        maxOutputTokens: 100,
      }),
    );
    const wired = (id: string, city: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: `{"city":"${city}"}` },
    });
    const { name, description, inputSchema: parameters } = WEATHER;
    expect(openai.asked[0]?.path).to.equal('/v1/chat/completions');
    expect(openai.asked[0]?.headers.authorization).to.equal('Bearer sk-canary');
    expect(openai.asked[0]?.body).to.equal({
      model: 'fake-1',
      max_tokens: 100,
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Oslo? Bergen?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [wired('c1', 'Oslo'), wired('c2', 'Bergen')],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'rain' },
        { role: 'tool', tool_call_id: 'c2', content: 'more rain' },
        { role: 'assistant', content: 'Rain.' },
        { role: 'user', content: 'Sure?' },
      ],
      tools: [{ type: 'function', function: { name, description, parameters } }],
      tool_choice: 'auto',
    });
  });

  for (const way of ['streamed', 'plain']) {
    const asking = (step: Partial<ModelRequest> = {}) =>
      way === 'streamed' ? streaming(step).step : stepOf(step);

    it(`returns parallel tool calls in order (${way})`, async () => {
      const toolCalls = [
        { id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
        { id: 'c2', name: 'weather', arguments: '{"city":"Bergen","deep":{"a":[1,2]}}' },
      ];
      const model = await modelOf({}, says({ text: 'Looking.', toolCalls }));
      expect(await model.step(asking({ tools: [WEATHER] }))).to.equal({
        text: 'Looking.',
        toolCalls: [
          { id: 'c1', name: 'weather', arguments: { city: 'Oslo' } },
          { id: 'c2', name: 'weather', arguments: { city: 'Bergen', deep: { a: [1, 2] } } },
        ],
        usage: { inputTokens: 10, outputTokens: 5, costUsd: null },
        finish: 'tool_calls',
      });
    });

    it(`returns a call of an unknown tool, and one without arguments (${way})`, async () => {
      const toolCalls = [
        { id: 'c1', name: 'nosuch', arguments: '{"a":1}' },
        { id: 'c2', name: 'weather', arguments: '' },
      ];
      const model = await modelOf({}, says({ toolCalls, finish: 'stop' }));
      const reply = await model.step(asking({ tools: [WEATHER] }));
      expect(reply.finish).to.equal('tool_calls');
      expect(reply.toolCalls).to.equal([
        { id: 'c1', name: 'nosuch', arguments: { a: 1 } },
        { id: 'c2', name: 'weather', arguments: {} },
      ]);
    });

    for (const [broken, because] of [
      ['{"city":', 'they are not valid JSON (Unexpected end of JSON input)'],
      ['[1]', 'they are not a JSON object'],
      ['"Oslo"', 'they are not a JSON object'],
      [
        '{"__proto__":{"a":1}}',
        'they are not valid JSON (Object contains forbidden prototype property)',
      ],
    ] as const) {
      it(`says what is wrong with tool arguments that are ${broken} (${way})`, async () => {
        const call = { id: 'c1', name: 'weather', arguments: broken };
        const model = await modelOf({}, says({ toolCalls: [call] }));
        const reply = await model.step(asking({ tools: [WEATHER] }));
        const fault = `${because}. They begin with: ${broken}`;
        expect(reply.finish).to.equal('tool_calls');
        expect(reply.toolCalls).to.equal([{ id: 'c1', name: 'weather', arguments: {}, fault }]);
      });
    }

    it(`hides the key in tool arguments that cannot be read (${way})`, async () => {
      const apiKey = 'sk-a-key-that-nobody-may-see';
      for (const broken of [`{"city": "${apiKey}`, `${'x'.repeat(290)}${apiKey}`]) {
        const call = { id: 'c1', name: 'weather', arguments: broken };
        const model = await modelOf({ apiKey }, says({ toolCalls: [call] }));
        const { toolCalls } = await model.step(asking({ tools: [WEATHER] }));
        expect(toolCalls[0]?.fault).to.contain('[hidden]');
        expect(toolCalls[0]?.fault).to.not.contain(apiKey.slice(0, 6));
      }
    });

    it(`says that half a tool call was cut off with the reply (${way})`, async () => {
      const toolCalls = [
        { id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
        { id: 'c2', name: 'weather', arguments: '{"cit' },
      ];
      const model = await modelOf({}, says({ toolCalls, finish: 'length' }));
      const { finish, toolCalls: calls } = await model.step(asking({ tools: [WEATHER] }));
      const whole = { id: 'c1', name: 'weather', arguments: { city: 'Oslo' } };
      const fault = 'your reply was cut off at the output limit before the arguments were complete';
      const half = { id: 'c2', name: 'weather', arguments: {}, fault };
      expect({ finish, calls }).to.equal({ finish: 'length', calls: [whole, half] });
    });

    it(`prices the tokens that the endpoint reports (${way})`, async () => {
      const price = { inputPerMTok: 3, outputPerMTok: 15 };
      const said = { text: 'Rain.', usage: { input: 1000, output: 200 } };
      const model = await modelOf({ price }, says(said));
      const { usage } = await model.step(asking());
      expect(usage).to.equal({ inputTokens: 1000, outputTokens: 200, costUsd: 0.006 });
    });

    it(`estimates the tokens where the endpoint reports none (${way})`, async () => {
      const model = await modelOf({}, says({ text: 'Rain.', usage: null }));
      const { usage } = await model.step(asking());
      expect(usage).to.equal({ inputTokens: 12, outputTokens: 2, costUsd: null });
    });

    it(`says so when the content filter took the reply (${way})`, async () => {
      const model = await modelOf({}, says({ text: 'Ra', finish: 'content_filter' }));
      const failure = await expect(model.step(asking())).to.reject(ModelFailure);
      expect(failure).to.include({ kind: 'bad_request' });
    });
  }

  it('passes on what the listener throws and lets go of the connection', async () => {
    const model = await modelOf({}, stalls('Rain '));
    const broken = () => {
      throw new RangeError('listener');
    };
    await expect(model.step(stepOf({ onText: broken }))).to.reject(RangeError, 'listener');
    expect(await openai.asked[0]?.gone).to.be.true();
  });

  it('refuses turns in which a tool call has no result', async () => {
    const model = await modelOf({});
    const call = { id: 'c1', name: 'weather', arguments: {} };
    const turns: ModelRequest['turns'] = [
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'user', content: 'Well?' },
    ];
    const failure = await expect(model.step(stepOf({ turns }))).to.reject(ModelFailure);
    expect(failure).to.include({ kind: 'bad_request' });
    expect(openai.asked).to.equal([]);
  });

  it('prints nothing', async () => {
    const printed: unknown[] = [];
    const { warn, error, info, log } = console;
    const note = (...said: unknown[]) => void printed.push(said);
    Object.assign(console, { warn: note, error: note, info: note, log: note });
    try {
      const model = await modelOf({}, says({ text: 'Rain.' }));
      const turns: ModelRequest['turns'] = [
        { role: 'user', content: 'Hello' },
        { role: 'system', content: 'Be short.' },
      ];
      await model.step(streaming({ turns }).step);
      await expect(model.step(streaming().step)).to.reject(ModelFailure);
    } finally {
      Object.assign(console, { warn, error, info, log });
    }
    expect(printed).to.equal([]);
  });
});
