import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openTarget, type Target } from '../../harness/target.js';
import { startStage } from '../stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const KEY = 'sk-canary-1234567890';

describe('what a provider has', () => {
  const stage = openForSuite(lab, startStage);
  let server: Target;
  const replies = new Map<string, unknown>();
  beforeEach(async () => {
    replies.clear();
    server = await openTarget();
    server.answer = (response) => {
      const reply = replies.get(response.req.url ?? '');
      if (reply === undefined) return void response.writeHead(403).end('{}');
      response.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
    };
  });
  afterEach(() => server.close());

  const list = (provider: string, baseUrl = server.url) =>
    stage.ask(
      'GET',
      `/api/models/providers/${provider}/models?baseUrl=${encodeURIComponent(baseUrl)}`,
    );
  const nothing = { contextWindow: null, maxOutputTokens: null, price: null, sizeBytes: null };

  it('is what Ollama has pulled', async () => {
    replies.set('/api/tags', {
      models: [{ name: 'qwen3:8b', size: 5_200_000_000 }, { name: 5 }, null, { name: 'phi4' }],
    });
    const { status, body } = await list('ollama', `${server.url}/v1/`);
    expect(status).to.equal(200);
    expect(body).to.equal({
      available: true,
      baseUrl: `${server.url}/v1/`,
      error: null,
      models: [
        { ...nothing, modelId: 'qwen3:8b', sizeBytes: 5_200_000_000 },
        { ...nothing, modelId: 'phi4' },
      ],
    });
  });

  it('is what LiteLLM describes, else what it names', async () => {
    replies.set('/v1/models', { data: [{ id: 'gpt' }, { id: 'claude' }] });
    expect((await list('litellm')).body.models).to.equal([
      { ...nothing, modelId: 'gpt' },
      { ...nothing, modelId: 'claude' },
    ]);
    const about = {
      max_input_tokens: 128_000,
      max_output_tokens: 16_384,
      input_cost_per_token: 0.0000025,
      output_cost_per_token: 0.00001,
    };
    replies.set('/model/info', {
      data: [{ model_name: 'gpt', model_info: about }, { model_name: 'bare' }],
    });
    expect((await list('litellm')).body.models).to.equal([
      {
        modelId: 'gpt',
        contextWindow: 128_000,
        maxOutputTokens: 16_384,
        price: { inputPerMTok: 2.5, outputPerMTok: 10 },
        sizeBytes: null,
      },
      { ...nothing, modelId: 'bare' },
    ]);
  });

  it('is asked for with the key of the model at that server, and no other', async () => {
    replies.set('/model/info', { data: [] });
    await stage.add('proxy', { provider: 'litellm', baseUrl: server.url, apiKey: KEY });
    await stage.ask('GET', '/api/models/providers/litellm/models');
    expect(server.received[0]?.headers.authorization).to.equal(`Bearer ${KEY}`);
    const other = await openTarget();
    await list('litellm', other.url);
    expect(other.received.map(({ headers }) => headers.authorization)).to.equal([
      undefined,
      undefined,
    ]);
    other.close();
  });

  it('is not available where nobody answers, and says why', async () => {
    for (const [reply, error] of [
      [undefined, '127.0.0.1 answered with status 403. Check the base URL and the API key'],
      ['<html>', '127.0.0.1 sent an invalid list of models. Check the base URL'],
      [{ models: 'none' }, 'The server sent an invalid list of models. Check the base URL'],
    ] as const) {
      if (reply !== undefined) replies.set('/api/tags', reply);
      const { status, body } = await list('ollama');
      expect([status, body]).to.equal([
        200,
        { available: false, baseUrl: server.url, error, models: [] },
      ]);
    }
    const closed = await list('ollama', 'http://127.0.0.1:9');
    expect(closed.body.error).to.equal('127.0.0.1: the connection was refused');
  });

  it('is read from no server that redirects, and from no metadata service', async () => {
    const other = await openTarget();
    server.answer = (response) => void response.writeHead(307, { location: other.url }).end();
    expect((await list('ollama')).body.error).to.equal(
      '127.0.0.1 answered with status 307. Check the base URL and the API key',
    );
    expect(other.received).to.equal([]);
    expect((await list('ollama', 'http://169.254.169.254')).status).to.equal(400);
    other.close();
  });

  it('is published for those that sell models', async () => {
    const { status, body } = await stage.ask('GET', '/api/models/providers/openai/known');
    expect([status, body.provider]).to.equal([200, 'openai']);
    const known = body.models.find(({ modelId }: { modelId: string }) => modelId === 'gpt-4o');
    expect(known).to.equal({
      modelId: 'gpt-4o',
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      supports: {
        tools: true,
        vision: true,
        streaming: true,
        embeddings: false,
        transcription: false,
      },
      price: { inputPerMTok: 2.5, outputPerMTok: 10 },
      asOf: '2025-11-30',
    });
    const local = await stage.ask('GET', '/api/models/providers/ollama/known');
    expect(local.body).to.equal({ provider: 'ollama', models: [] });
    const nobody = await stage.ask('GET', '/api/models/providers/acme/known');
    expect(nobody.status).to.equal(404);
  });
});
