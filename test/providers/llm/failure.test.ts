import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../../src/kernel/http.js';
import { openAiSdkModel } from '../../../src/providers/llm/create.js';
import {
  ModelFailure,
  type ModelFailureKind,
  type ModelRequest,
} from '../../../src/providers/llm/model.js';
import { type FrozenClock, frozenClock } from '../../harness/clock.js';
import {
  breaks,
  hangs,
  type Openai,
  type Reply,
  refuses,
  says,
  stalls,
  startOpenai,
  streams,
} from '../../harness/openai.js';
import { send } from '../../harness/wire.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const SECRETS = /canary/;
let openai: Openai;
let http: Http;
let clock: FrozenClock;

const modelAt = (baseUrl: string, limits: Parameters<Http['fetchFor']>[1] = {}) =>
  openAiSdkModel({
    name: 'house/fake',
    provider: 'openai-compatible',
    modelId: 'fake-1',
    baseUrl,
    apiKey: 'sk-key-canary',
    contextWindow: 8000,
    fetch: http.fetchFor(baseUrl, limits),
  });

const stepOf = (way: string, signal = new AbortController().signal): ModelRequest => ({
  turns: [{ role: 'user', content: 'prompt-canary' }],
  tools: [],
  signal,
  ...(way === 'streamed' ? { onText: () => {} } : {}),
});

/** The failure of a step, which must not quote prompt or key anywhere in it. */
const failing = async (step: Promise<unknown>) => {
  const failure = await expect(step).to.reject(ModelFailure);
  const { kind, message, retryAfterMs, cause } = failure;
  expect(`${message} ${failure.stack}`).to.not.match(SECRETS);
  expect(cause).to.be.undefined();
  return retryAfterMs === undefined ? { kind, message } : { kind, message, retryAfterMs };
};

const PAGE: Reply = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');

const echo = { message: 'No: sk-key-canary asked prompt-canary' };
const ANSWERS: [string, Reply, ModelFailureKind, string, number?][] = [
  ['400', refuses(400, echo), 'bad_request', 'house/fake answered 400'],
  [
    '401',
    refuses(401, echo),
    'credentials',
    'house/fake answered 401: its server refused the API key',
  ],
  [
    '403',
    refuses(403, { code: 'invalid_api_key' }),
    'credentials',
    'house/fake answered 403: its server refused the API key',
  ],
  [
    '404',
    refuses(404, { code: 'model_not_found' }),
    'unknown_model',
    'house/fake answered 404: its server has no model fake-1',
  ],
  ['413', refuses(413), 'context_length', 'house/fake answered 413'],
  ['429', refuses(429, echo), 'rate_limited', 'house/fake answered 429'],
  [
    '429 with seconds',
    refuses(429, {}, { 'retry-after': '7' }),
    'rate_limited',
    'house/fake answered 429',
    7000,
  ],
  [
    '429 with a date',
    refuses(
      429,
      {},
      { date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT' },
    ),
    'rate_limited',
    'house/fake answered 429',
    90_000,
  ],
  [
    '429 with nonsense',
    refuses(429, {}, { 'retry-after': 'soon' }),
    'rate_limited',
    'house/fake answered 429',
  ],
  ['500', refuses(500, echo), 'server', 'house/fake answered 500'],
  [
    '503 with seconds',
    refuses(503, {}, { 'retry-after': '30' }),
    'server',
    'house/fake answered 503',
    30_000,
  ],
  [
    'a context that is too long (OpenAI)',
    refuses(400, { code: 'context_length_exceeded' }),
    'context_length',
    'house/fake answered 400: the request exceeds its context window',
  ],
  [
    'a context that is too long (llama.cpp)',
    refuses(400, { code: 400, message: 'too long', type: 'exceed_context_size_error' }),
    'context_length',
    'house/fake answered 400: the request exceeds its context window',
  ],
  ...['The model `canary` does not exist.', "model 'canary' not found"].map(
    (message): (typeof ANSWERS)[number] => [
      `a model that the server lacks (${message})`,
      refuses(404, { message }),
      'unknown_model',
      'house/fake answered 404: its server has no model fake-1',
    ],
  ),
  [
    'a path that does not exist below /v1',
    refuses(404),
    'unknown_model',
    'house/fake answered 404',
  ],
  [
    'a model that is loading',
    refuses(503, { message: 'Loading model', type: 'unavailable_error' }),
    'server',
    'house/fake answered 503: its server is still loading the model. Try again',
  ],
  [
    'a refusal without a body',
    (response) => response.writeHead(502).end(),
    'server',
    'house/fake answered 502',
  ],
  ['a page in place of JSON', PAGE, 'invalid_reply', 'house/fake sent a web page'],
  [
    'an error with the status of a success',
    refuses(200, { message: 'prompt-canary', code: 429 }),
    'rate_limited',
    'house/fake sent an error',
  ],
  [
    'a missing model with the status of a success',
    refuses(200, { message: "model 'canary' not found" }),
    'unknown_model',
    'house/fake sent an error: its server has no model fake-1',
  ],
  [
    'JSON of another kind',
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
    'invalid_reply',
    'house/fake sent an invalid reply',
  ],
  [
    'no choices',
    (response) => response.writeHead(200).end('{"choices":[]}'),
    'invalid_reply',
    'house/fake sent an invalid reply',
  ],
];

const START = '{"choices":[{"index":0,"delta":{"content":"Ra"},"finish_reason":null}]}';
const FRAMES: [string, string[], ModelFailureKind, string][] = [
  ['garbage', [START, '{"choi'], 'invalid_reply', 'house/fake sent an invalid reply'],
  ['JSON of another kind', [START, '[1]'], 'invalid_reply', 'house/fake sent an invalid reply'],
  ['no finish', [START], 'invalid_reply', 'house/fake ended its reply without finish_reason'],
  ['nothing', [], 'invalid_reply', 'house/fake sent an invalid reply'],
  [
    'an error',
    [START, '{"error":{"message":"prompt-canary","code":null}}'],
    'server',
    'house/fake aborted its reply with an error',
  ],
  [
    'an error that is a rate limit',
    [START, '{"error":{"message":"slow","code":429}}'],
    'rate_limited',
    'house/fake aborted its reply with an error',
  ],
  [
    'an error that is a rate limit, with fields of other types',
    [START, '{"error":{"message":null,"type":1,"code":{},"status":429}}'],
    'rate_limited',
    'house/fake aborted its reply with an error',
  ],
  [
    'an error about a missing model',
    [START, '{"error":{"message":"The model `canary` does not exist."}}'],
    'unknown_model',
    'house/fake aborted its reply with an error: its server has no model fake-1',
  ],
  [
    'an error of an older vLLM',
    [START, '{"object":"error","message":"maximum context length is 8000","code":400}'],
    'context_length',
    'house/fake aborted its reply with an error: the request exceeds its context window',
  ],
  [
    'an error about the context',
    [START, '{"error":{"message":"maximum context length is 8000"}}'],
    'context_length',
    'house/fake aborted its reply with an error: the request exceeds its context window',
  ],
];

describe('failures of a compatible model', () => {
  beforeEach(async () => {
    openai = await startOpenai();
    clock = frozenClock();
    http = createHttp({ allow: [], clock });
  });
  afterEach(async () => {
    await http.close();
    await openai.stop();
  });

  for (const way of ['streamed', 'plain']) {
    for (const [title, reply, kind, message, retryAfterMs] of ANSWERS) {
      it(`reports ${title} as ${kind} (${way})`, async () => {
        openai.script(reply);
        const failure = await failing(modelAt(openai.baseUrl).step(stepOf(way)));
        const hint = retryAfterMs === undefined ? {} : { retryAfterMs };
        expect(failure).to.equal({ kind, message, ...hint });
        expect(openai.asked.length).to.equal(1);
      });
    }

    it(`names the base URL if its path is unusual (${way})`, async () => {
      const root = openai.baseUrl.replace('/v1', '');
      for (const baseUrl of [root, `${openai.baseUrl}/chat/completions`]) {
        openai.script(refuses(404));
        expect(await failing(modelAt(baseUrl).step(stepOf(way)))).to.equal({
          kind: 'unknown_model',
          message: 'house/fake answered 404. Check the base URL: it usually ends in /v1',
        });
      }
    });

    it(`names the base URL if an unusual path replies with status 200 (${way})`, async () => {
      const model = modelAt(openai.baseUrl.replace('/v1', ''));
      const remedy = 'Check the base URL: it usually ends in /v1';
      openai.script(PAGE);
      expect(await failing(model.step(stepOf(way)))).to.equal({
        kind: 'invalid_reply',
        message: `house/fake sent a web page. ${remedy}`,
      });
      // LM Studio.
      const error = 'Unexpected endpoint or method. (POST /chat/completions)';
      openai.script((response) => send(response, 200, { error }));
      expect(await failing(model.step(stepOf(way)))).to.equal({
        kind: 'unknown_model',
        message: `house/fake sent an error. ${remedy}`,
      });
    });

    it(`reports a closed port as refused_connection (${way})`, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      server.close();
      await once(server, 'close');
      const failure = await failing(modelAt(`http://127.0.0.1:${port}/v1`).step(stepOf(way)));
      const message = 'house/fake at 127.0.0.1: the connection was refused';
      expect(failure).to.equal({ kind: 'refused_connection', message });
    });

    it(`reports an address that may not be called as refused_connection (${way})`, async () => {
      openai.script(refuses(307, {}, { location: 'http://127.0.0.1:9/canary' }));
      const { kind, message } = await failing(modelAt(openai.baseUrl).step(stepOf(way)));
      expect(kind).to.equal('refused_connection');
      expect(message).to.startWith('house/fake at 127.0.0.1 is refused: ');
    });

    it(`reports a cut connection before the reply as refused_connection (${way})`, async () => {
      openai.script((response) => response.destroy());
      const { kind } = await failing(modelAt(openai.baseUrl).step(stepOf(way)));
      expect(kind).to.equal('refused_connection');
    });

    for (const [where, reply] of [
      ['before the headers', hangs],
      ['in the middle of the reply', stalls('Rain ')],
    ] as const) {
      it(`ends at once when it is stopped ${where} (${way})`, async () => {
        openai.script(reply);
        const stop = new AbortController();
        const step = modelAt(openai.baseUrl).step(stepOf(way, stop.signal));
        await openai.nextAsked();
        stop.abort(new Error('canary'));
        const message = 'The call of house/fake was stopped';
        expect(await failing(step)).to.equal({ kind: 'aborted', message });
        expect(await openai.asked[0]?.gone).to.be.true();
      });

      it(`reports the end of its time ${where} as timeout (${way})`, async () => {
        openai.script(reply);
        const end = new AbortController();
        const step = modelAt(openai.baseUrl).step(stepOf(way, end.signal));
        await openai.nextAsked();
        end.abort(new DOMException('canary', 'TimeoutError'));
        const message = 'house/fake did not finish in time';
        expect(await failing(step)).to.equal({ kind: 'timeout', message });
        expect(await openai.asked[0]?.gone).to.be.true();
      });
    }

    it(`asks nobody when it is stopped beforehand (${way})`, async () => {
      const step = modelAt(openai.baseUrl).step(stepOf(way, AbortSignal.abort()));
      expect((await failing(step)).kind).to.equal('aborted');
      expect(openai.asked).to.equal([]);
    });

    it(`reports silence as timeout (${way})`, async () => {
      openai.script(hangs, stalls('Rain '));
      const model = modelAt(openai.baseUrl, { firstByteMs: 20_000, silenceMs: 10_000 });
      const message = 'house/fake at 127.0.0.1: the reply took too long';
      for (const limitMs of [20_000, 10_000]) {
        const asked = openai.nextAsked();
        const step = failing(model.step(stepOf(way)));
        await asked;
        await clock.waiting(limitMs);
        clock.forward(limitMs);
        expect(await step).to.equal({ kind: 'timeout', message });
      }
    });

    it(`reports a cut connection in the middle of the reply as server (${way})`, async () => {
      openai.script(breaks('Rain '));
      const failure = await failing(modelAt(openai.baseUrl).step(stepOf(way)));
      const message = 'house/fake at 127.0.0.1: the connection was interrupted';
      expect(failure).to.equal({ kind: 'server', message });
    });

    it(`gives up on a reply without end (${way})`, async () => {
      openai.script(stalls('Rain '.repeat(1000)));
      const failure = await failing(modelAt(openai.baseUrl, { maxBytes: 4096 }).step(stepOf(way)));
      const message = 'house/fake at 127.0.0.1: the reply is too large';
      expect(failure).to.equal({ kind: 'invalid_reply', message });
      expect(await openai.asked[0]?.gone).to.be.true();
    });

    it(`reports what is not HTTP as invalid_reply (${way})`, async () => {
      openai.script((response) => response.socket?.end('SSH-2.0-canary\r\n\r\n'));
      const { kind } = await failing(modelAt(openai.baseUrl).step(stepOf(way)));
      expect(kind).to.equal('invalid_reply');
    });

    it(`reports the end of the client as aborted (${way})`, async () => {
      openai.script(hangs);
      const step = failing(modelAt(openai.baseUrl).step(stepOf(way)));
      await openai.nextAsked();
      await http.close();
      expect((await step).kind).to.equal('aborted');
    });
  }

  for (const [title, frames, kind, message] of FRAMES) {
    it(`reports a stream with ${title} as ${kind}`, async () => {
      openai.script(streams(...frames));
      const failure = await failing(modelAt(openai.baseUrl).step(stepOf('streamed')));
      expect(failure).to.equal({ kind, message });
    });
  }

  it('answers again after failures', async () => {
    openai.script(refuses(500), hangs, says({ text: 'Rain.' }));
    const model = modelAt(openai.baseUrl);
    await failing(model.step(stepOf('plain')));
    const asked = openai.nextAsked();
    const late = failing(model.step(stepOf('plain', clock.deadline(1000))));
    await asked;
    clock.forward(1000);
    expect((await late).kind).to.equal('timeout');
    expect((await model.step(stepOf('plain'))).text).to.equal('Rain.');
  });
});
