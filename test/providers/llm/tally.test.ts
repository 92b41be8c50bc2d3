import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp } from '../../../src/kernel/http.js';
import { type ModelOptions, openAiSdkModel } from '../../../src/providers/llm/create.js';
import { ModelFailure, type ModelRequest } from '../../../src/providers/llm/model.js';
import { createTally } from '../../../src/providers/llm/tally.js';
import { usageIn } from '../../../src/providers/llm/usage.js';
import { anthropic } from '../../harness/anthropic.js';
import { google } from '../../harness/google.js';
import { ollama } from '../../harness/ollama.js';
import { openaiDialects, refuses, says, startOpenai } from '../../harness/openai.js';
import { type Dialect, startDialect, type Wire, type WireReply } from '../../harness/wire.js';

export const lab = Lab.script();
const { describe, it, after } = lab;

const dialects: Dialect[] = [...openaiDialects, anthropic, google, ollama];
/** Where each protocol has the bound of an answer. */
const BOUNDS: Record<Dialect['provider'], string> = {
  openai: '"max_tokens":100',
  'openai-compatible': '"max_tokens":100',
  anthropic: '"max_tokens":100',
  google: '"maxOutputTokens":100',
  ollama: '"num_predict":100',
};
const PRICE = { inputPerMTok: 0, outputPerMTok: 10_000 };

const http = createHttp({ allow: [] });
after(() => http.close());

const modelAt = (baseUrl: string, options: Partial<ModelOptions> = {}) =>
  openAiSdkModel({
    ...{ name: 'fake', provider: 'openai-compatible', modelId: 'fake-1', baseUrl, price: PRICE },
    ...{ contextWindow: 8000, fetch: http.fetchFor(baseUrl), ...options },
  });

const stepOf = (step: Partial<ModelRequest> = {}): ModelRequest => ({
  turns: [{ role: 'user', content: 'Say.' }],
  tools: [],
  maxOutputTokens: 100,
  signal: new AbortController().signal,
  onText: () => {},
  ...step,
});

/** So many words of a token each; then the connection stays open, or breaks off. */
const words =
  (dialect: Dialect, count: number, end: 'stay' | 'break'): WireReply<unknown> =>
  (response) => {
    response.writeHead(200, { 'content-type': dialect.contentType });
    const pieces = Array.from({ length: count - 1 }, () => dialect.piece('word '));
    response.write([dialect.opening('word '), ...pieces].join(''), () => {
      if (end === 'break') response.destroy();
    });
  };

for (const dialect of dialects) {
  describe(`the bound of an answer of ${dialect.provider}`, () => {
    let wire: Wire;
    const ask = async (...script: WireReply<unknown>[]) => {
      wire = await startDialect(dialect, ...script);
      return modelAt(wire.baseUrl, { provider: dialect.provider }).step(stepOf());
    };

    it('is sent, and cuts a stream that goes on', async () => {
      const reply = await ask(words(dialect, 400, 'stay'));
      expect(reply).to.equal({
        text: 'word '.repeat(101),
        toolCalls: [],
        usage: { inputTokens: reply.usage.inputTokens, outputTokens: 101, costUsd: 1.01 },
        finish: 'length',
      });
      expect(await wire.asked[0]?.gone).to.be.true();
      expect(JSON.stringify(wire.asked[0]?.body)).to.contain(BOUNDS[dialect.provider]);
      await wire.stop();
    });

    it('is not reached by an answer that breaks off, which counts as far as it came', async () => {
      const failure = await ask(words(dialect, 60, 'break')).catch((error: unknown) => error);
      expect(failure).to.be.instanceof(ModelFailure);
      const { usage } = failure as ModelFailure;
      expect([usage?.outputTokens, usage?.costUsd]).to.equal([60, 0.6]);
      await wire.stop();
    });
  });
}

describe('a model that takes the bound by its newer name alone', () => {
  it('is asked again so, and from then on at once', async () => {
    const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    const said = says({ text: 'Yes.' });
    const openai = await startOpenai(refuses(400, { message }), said, said);
    const model = modelAt(openai.baseUrl);
    for (const _ of [1, 2]) expect((await model.step(stepOf())).text).to.equal('Yes.');
    const bounds = openai.asked.map(({ body }) => JSON.stringify(body).match(/"max\w+":\d+/)?.[0]);
    expect(bounds).to.equal([
      '"max_tokens":100',
      '"max_completion_tokens":100',
      '"max_completion_tokens":100',
    ]);
    await openai.stop();
  });
});

describe('a model that hides its reasoning', () => {
  it('counts what it may have come to where it breaks off later', async () => {
    const [dialect] = openaiDialects;
    const usage = {
      ...{ prompt_tokens: 4, completion_tokens: 50, total_tokens: 54 },
      completion_tokens_details: { reasoning_tokens: 45 },
    };
    const thinks: WireReply<unknown> = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const end = {
        ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      };
      const last = { ...end, choices: [], usage };
      const frames = [end, last].map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
      response.end(`${dialect?.opening('Yes.')}${frames.join('')}data: [DONE]\n\n`);
    };
    const wire = await startDialect(dialect!, thinks, words(dialect!, 60, 'break'));
    const model = modelAt(wire.baseUrl);
    expect((await model.step(stepOf())).usage.outputTokens).to.equal(50);
    const failure = await model.step(stepOf()).catch((error: unknown) => error);
    expect((failure as ModelFailure).usage?.outputTokens).to.equal(100);
    await wire.stop();
  });
});

describe('usage', () => {
  it('is read in the words of every protocol, reasoning as output', () => {
    const told = [
      { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 17 } },
      { message: { usage: { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 1 } } },
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 6 } },
      { prompt_eval_count: 3, eval_count: 4 },
      { usage: { prompt_tokens: -1, completion_tokens: 'many' } },
      'nonsense',
    ];
    expect(told.map(usageIn)).to.equal([
      { inputTokens: 3, outputTokens: 14 },
      { inputTokens: 8, outputTokens: 1 },
      { inputTokens: 3, outputTokens: 10, reasoningTokens: 6 },
      { inputTokens: 3, outputTokens: 4 },
      {},
      {},
    ]);
  });

  it('is estimated by bytes where pieces are no tokens', () => {
    const count = (size: number, pieces: number): number => {
      const tally = createTally();
      for (let at = 0; at < pieces; at++) tally.add('x'.repeat(size));
      return tally.tokens();
    };
    expect([count(4, 60), count(1, 60), count(9, 60), count(4, 3)]).to.equal([60, 20, 180, 4]);
  });
});
