import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp } from '../../../src/kernel/http.js';
import { type ModelOptions, openAiSdkModel } from '../../../src/providers/llm/create.js';
import { ModelFailure, type ModelRequest, type Turn } from '../../../src/providers/llm/model.js';
import { anthropic } from '../../harness/anthropic.js';
import { frozenClock } from '../../harness/clock.js';
import { google } from '../../harness/google.js';
import { misbehaviours } from '../../harness/misbehave.js';
import { ollama } from '../../harness/ollama.js';
import { openaiDialects } from '../../harness/openai.js';
import { type Dialect, type ModelOutput, startDialect, type Wire } from '../../harness/wire.js';

export const lab = Lab.script();
const { describe, it, after, afterEach, beforeEach } = lab;

const dialects: Dialect[] = [...openaiDialects, anthropic, google, ollama];
const KEY = 'key-canary-1234';

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const BOTH = [
  { id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { id: 'c2', name: 'weather', arguments: '{"city":"Bergen"}' },
];
const TURNS: Turn[] = [
  { role: 'system', content: 'Be short.' },
  { role: 'user', content: 'Oslo?' },
  {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }],
  },
  { role: 'tool', toolCallId: 'c1', toolName: 'weather', content: 'rain-canary' },
  { role: 'assistant', content: '', toolCalls: [] },
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: 'Sure?' },
];

const clock = frozenClock();
const http = createHttp({ allow: [], clock });
let wire: Wire;

const modelOf = async (
  dialect: Dialect,
  script: Parameters<typeof startDialect>[1][],
  options: Partial<ModelOptions> = {},
) => {
  wire = await startDialect(dialect, ...script);
  return openAiSdkModel({
    name: 'house/fake',
    provider: dialect.provider,
    modelId: 'fake-1',
    baseUrl: wire.baseUrl,
    apiKey: KEY,
    contextWindow: 8000,
    fetch: http.fetchFor(wire.baseUrl),
    clock,
    ...options,
  });
};

/** The longest limit of a model. */
const LIMIT_MS = 1_800_000;
/** What ends by a limit of time alone, and whether it has sent text before. */
const ENDLESS: Record<string, 'text' | 'nothing'> = {
  'a hang before the headers': 'nothing',
  'a hang behind the headers': 'nothing',
  'signs of life and no token': 'nothing',
  'a hang in mid-stream': 'text',
  'endless tokens': 'text',
  'a line without end': 'nothing',
};

const stepOf = (step: Partial<ModelRequest> = {}): ModelRequest => ({
  turns: [{ role: 'user', content: 'Weather in Oslo?' }],
  tools: [],
  signal: new AbortController().signal,
  ...step,
});

for (const dialect of dialects) {
  describe(`a model of ${dialect.provider}`, () => {
    const printed: unknown[] = [];
    const { warn, error } = console;
    beforeEach(() => {
      const note = (...said: unknown[]) => void printed.push(said);
      Object.assign(console, { warn: note, error: note });
    });
    afterEach(async () => {
      Object.assign(console, { warn, error });
      await wire.stop();
      expect(printed.splice(0), 'printed').to.equal([]);
    });
    after(async () => {
      if (dialect === dialects.at(-1)) await http.close();
    });

    const ask = async (
      said: ModelOutput,
      step: Partial<ModelRequest> = {},
      options: Partial<ModelOptions> = {},
    ) => (await modelOf(dialect, [dialect.says(said)], options)).step(stepOf(step));

    it('hands streamed text on as it comes', async () => {
      const heard: string[] = [];
      const reply = await ask({ text: 'Rain all day.' }, { onText: (text) => heard.push(text) });
      expect(reply).to.equal({
        text: 'Rain all day.',
        toolCalls: [],
        usage: { inputTokens: 10, outputTokens: 5, costUsd: null },
        finish: 'stop',
      });
      expect(heard).to.equal(['Rain ', 'all ', 'day.']);
    });

    it('takes one reply where it cannot stream', async () => {
      const heard: string[] = [];
      const onText = (text: string) => heard.push(text);
      const reply = await ask(
        { text: 'Rain.', toolCalls: [BOTH[0]!] },
        { onText, tools: [WEATHER] },
        { streaming: false },
      );
      expect([reply.text, reply.finish, heard]).to.equal(['Rain.', 'tool_calls', ['Rain.']]);
      expect(reply.toolCalls.map((call) => call.arguments)).to.equal([{ city: 'Oslo' }]);
    });

    it('returns parallel tool calls in order, with and without text', async () => {
      const onText = () => {};
      for (const text of [undefined, 'Looking.']) {
        const reply = await ask({ text, toolCalls: BOTH }, { tools: [WEATHER], onText });
        expect([reply.text, reply.finish]).to.equal([text ?? '', 'tool_calls']);
        expect(reply.toolCalls.map(({ name, arguments: args }) => ({ name, args }))).to.equal([
          { name: 'weather', args: { city: 'Oslo' } },
          { name: 'weather', args: { city: 'Bergen' } },
        ]);
        expect(new Set(reply.toolCalls.map(({ id }) => id)).size).to.equal(2);
        await wire.stop();
      }
      wire = await startDialect(dialect);
    });

    it('prices what is reported, and estimates what is not', async () => {
      const price = { inputPerMTok: 3, outputPerMTok: 15 };
      const said = { text: 'Rain.', usage: { input: 1000, output: 200 } };
      const { usage } = await ask(said, { onText: () => {} }, { price });
      expect(usage).to.equal({ inputTokens: 1000, outputTokens: 200, costUsd: 0.006 });
      await wire.stop();
      const estimated = await ask({ text: 'Rain.', usage: null }, { onText: () => {} });
      expect(estimated.usage).to.equal({ inputTokens: 12, outputTokens: 2, costUsd: null });
    });

    it('sends every kind of turn, the tools, the key and the limit', async () => {
      await ask({ text: 'Wet.' }, { turns: TURNS, tools: [WEATHER] }, { maxOutputTokens: 99 });
      const [asked] = wire.asked;
      const sent = JSON.stringify(asked?.body);
      for (const part of ['Be short.', 'Oslo?', 'rain-canary', 'Be kind.', 'Sure?', ':99']) {
        expect(sent).to.contain(part);
      }
      expect(sent).to.contain('The weather of a city');
      expect(JSON.stringify(asked?.headers)).to.contain(KEY);
      expect(sent + asked?.path).to.not.contain(KEY);
    });

    it('hides the key where the endpoint answers with it', async () => {
      const { text } = await ask({ text: `You sent ${KEY}.` }, { onText: () => {} });
      expect(text).to.equal('You sent [hidden].');
    });

    for (const [what, reply] of Object.entries(misbehaviours)) {
      it(`fails on ${what}`, async () => {
        const model = await modelOf(dialect, [reply(dialect)]);
        const asked = wire.nextAsked();
        let heard = (): void => undefined;
        const begun = new Promise<void>((resolve) => {
          heard = resolve;
        });
        const step = expect(model.step(stepOf({ onText: () => heard() }))).to.reject(ModelFailure);
        const isMute = ENDLESS[what];
        if (isMute) {
          await (isMute === 'text' ? begun : asked);
          clock.forward(LIMIT_MS);
        }
        const failure = await step;
        if (isMute) expect(failure.kind).to.equal('timeout');
        expect(failure.message).to.match(/^house\/fake /);
        expect(`${failure.message} ${failure.stack}`).to.not.contain(KEY);
        expect(failure.cause).to.be.undefined();
        expect(wire.asked.length).to.equal(1);
      });
    }
  });
}
