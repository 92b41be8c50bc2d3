import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp } from '../../src/kernel/http.js';
import { openAiSdkModel } from '../../src/providers/llm/create.js';
import { startStage } from '../agents/stage.js';
import { openWorld } from '../cli/world.js';
import { anthropic } from '../harness/anthropic.js';
import { until } from '../harness/app.js';
import { google } from '../harness/google.js';
import { ollama } from '../harness/ollama.js';
import { type Dialect, startDialect } from '../harness/wire.js';
import { pieces } from './modelservers.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ARGS = '{"n":9007199254740993,"price":1.10}';
const USAGE = '"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5}';
const PARTS = `{"functionCall":{"name":"weather","args":${ARGS}}}`;
const CANDIDATE = `{"content":{"role":"model","parts":[${PARTS}]},"finishReason":"STOP","avgLogprobs":-1.0}`;
const GOOGLE = `{"candidates":[${CANDIDATE}],${USAGE}}`;
const CALLS = `[{"function":{"name":"weather","arguments":${ARGS}}}]`;
const OLLAMA = `{"model":"fake-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":${CALLS}},"done":true,"done_reason":"stop"}`;
const BLOCK = `{"type":"tool_use","id":"c1","name":"weather","input":${ARGS}}`;
const ANTHROPIC = `{"type":"message","id":"m1","model":"fake-1","role":"assistant","content":[${BLOCK}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":5}}`;

/** The first call of a reply with these bytes. */
const callIn = async (dialect: Dialect, type: string, reply: string, isStreamed: boolean) => {
  const wire = await startDialect(dialect, (response) => {
    response.writeHead(200, { 'content-type': type }).end(reply);
  });
  try {
    const model = openAiSdkModel({
      ...{ name: 'fake', provider: dialect.provider, modelId: 'fake-1', contextWindow: 8000 },
      baseUrl: wire.baseUrl,
      fetch: createHttp({ allow: [] }).fetchFor(wire.baseUrl),
    });
    const { toolCalls } = await model.step({
      turns: [{ role: 'user', content: 'Oslo?' }],
      tools: [{ name: 'weather', description: 'The weather', inputSchema: { type: 'object' } }],
      signal: new AbortController().signal,
      ...(isStreamed && { onText: () => undefined }),
    });
    return toolCalls[0];
  } finally {
    await wire.stop();
  }
};

describe('numbers in the arguments of a call that arrive as an object', () => {
  const fault =
    'the number 9007199254740993 cannot be represented exactly; write it as a string. ' +
    `They begin with: ${ARGS}`;

  for (const [dialect, type, reply, isStreamed] of [
    [google, 'text/event-stream', `data: ${GOOGLE}\r\n\r\n`, true],
    [google, 'application/json', GOOGLE, false],
    [anthropic, 'application/json', ANTHROPIC, false],
  ] as const) {
    it(`are not rounded: ${dialect.provider}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      const call = await callIn(dialect, type, reply, isStreamed);
      expect(call).to.include({ name: 'weather', arguments: {} });
      expect(JSON.stringify(call)).to.include(JSON.stringify(fault).slice(1, 60));
    });
  }

  for (const [type, reply, isStreamed] of [
    ['application/x-ndjson', `${OLLAMA}\n`, true],
    ['application/json', OLLAMA, false],
  ] as const) {
    it(`become strings of their digits: ollama, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      const call = await callIn(ollama, type, reply, isStreamed);
      expect(call?.arguments).to.equal({ n: '9007199254740993', price: 1.1 });
    });
  }

  it('stay as they are if they are exact', async () => {
    const reply = GOOGLE.replace('9007199254740993', '9007199254740991');
    const call = await callIn(google, 'text/event-stream', `data: ${reply}\n\n`, true);
    expect(call?.arguments).to.equal({ n: 9007199254740991, price: 1.1 });
  });
});

describe('numbers in the output of a stage', () => {
  it('are shown as strings of their digits if they would be rounded', async () => {
    const stage = await startStage({});
    try {
      stage.model.script(pieces('{"id":9007199254740993,"price":1.10,"all":[1e400,7]}'));
      const output = { type: 'object', properties: { id: { type: 'number' } } };
      const stages = [{ key: 'read', kind: 'agent', config: { prompt: 'Read it' }, output }];
      const { body } = await stage.ask('POST', '/api/pipelines/templates', { name: 'R', stages });
      const run = await stage.ask('POST', '/api/pipelines', { templateId: body.id });
      const { body: ended } = await until(
        () => stage.ask('GET', `/api/pipelines/${run.body.id}`),
        ({ body: { finishedAt } }) => finishedAt !== null,
      );
      expect(ended.stages[0].output).to.equal({
        id: '9007199254740993',
        price: 1.1,
        all: ['1e400', 7],
      });
    } finally {
      await stage.stop();
    }
  });
});

describe('numbers that a command prints', () => {
  it('have the digits that the daemon sent', async () => {
    const world = await openWorld();
    try {
      const file = await world.file('payload.json', ARGS);
      const trigger = ['--trigger', 'webhook', '--webhook-path', 'digits'];
      const action = ['--action', 'notify', '--notify-message', 'hello'];
      await world.cli(['hooks', 'create', '--name', 'digits', ...trigger, ...action]);
      await world.cli(['hooks', 'test', 'digits', file]);
      const executions = ['hooks', 'executions', 'digits'];
      const [{ id }] = JSON.parse((await world.cli([...executions, '--json'])).stdout).executions;
      const { hooks } = await world.client.hooks.list();
      const path = `/api/hooks/${hooks[0]?.id}/executions/${id}`;
      for (const words of [
        [...executions, '--json'],
        [...executions, '--fields', 'triggerContext.webhook.body'],
        ['api', 'GET', path],
      ]) {
        expect((await world.cli(words)).stdout, words.join(' ')).to.include(ARGS);
      }
      const price = await world.cli([
        ...executions,
        '--fields',
        'triggerContext.webhook.body.price',
      ]);
      expect(price.stdout).to.equal('1.10\n');
    } finally {
      await world.stop();
    }
  });
});
