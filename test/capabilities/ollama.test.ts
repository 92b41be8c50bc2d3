import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Listening, listen } from '../kernel/listen.js';
import { type CapabilityStage, startCapabilities } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const TOTAL = 1_000_000;
const DIGEST = `sha256:${'cd'.repeat(32)}`;

/** A server with Ollama's calls for its models: `/api/tags`, `/api/pull`, `/api/show`, `/api/delete`. */
const startLibrary = async () => {
  const has = new Set<string>();
  /** The bytes of a model whose pull broke off; Ollama keeps them. */
  let kept = 0;
  const habits = { breaksAt: null as number | null, refusal: null as string | null };
  const pull = (response: ServerResponse, model: string): void => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const say = (line: object) => response.write(`${JSON.stringify(line)}\n`);
    say({ status: 'pulling manifest' });
    if (habits.refusal) {
      say({ error: habits.refusal });
      return void response.end();
    }
    const layer = { digest: DIGEST, total: TOTAL };
    const steps = [0.1, 0.37, 0.7, 1].map((part) => part * TOTAL).filter((at) => at > kept);
    for (const completed of steps) {
      kept = completed;
      say({ status: `pulling ${DIGEST.slice(7, 19)}`, ...layer, completed });
      if (habits.breaksAt !== null && completed >= habits.breaksAt) {
        habits.breaksAt = null;
        setTimeout(() => response.destroy(), 50);
        return;
      }
    }
    for (const status of ['verifying sha256 digest', 'writing manifest', 'success'])
      say({ status });
    has.add(model);
    response.end();
  };
  const server: Listening = await listen((request, response) => {
    const { path = '', body = '' } = server.got.at(-1) ?? {};
    const { model = '' } = body === '' ? {} : JSON.parse(body);
    if (path === '/api/tags') {
      const models = [...has].map((name) => ({ name, size: TOTAL }));
      response.end(JSON.stringify({ models }));
    } else if (path === '/api/pull') pull(response, model);
    else if (path === '/api/delete' && request.method === 'DELETE') {
      response.writeHead(has.delete(model) ? 200 : 404).end();
    } else response.writeHead(404).end();
  });
  return { ...server, has, habits };
};

describe('a model of Ollama', () => {
  let stage: CapabilityStage;
  let library: Awaited<ReturnType<typeof startLibrary>>;
  beforeEach(async () => {
    library = await startLibrary();
    stage = await startCapabilities({});
    const model = { provider: 'ollama', modelId: 'other:1b', baseUrl: library.origin };
    await stage.ask('POST', '/api/models', { name: 'other', ...model });
  });
  afterEach(async () => {
    await stage.stop();
    await library.close();
  });

  const pulls = () => library.got.filter(({ path }) => path === '/api/pull');

  it('is pulled with its progress, goes on after a break at 37 %, and is registered', async () => {
    library.habits.breaksAt = 0.37 * TOTAL;
    const operation = await stage.install({ id: 'ollama:tiny:1b', useCase: 'chat' });
    expect([operation.status, operation.error]).to.equal(['completed', null]);
    expect(operation.progress).to.include({ done: TOTAL, total: TOTAL, unit: 'bytes' });
    expect(pulls().map(({ body }) => JSON.parse(body))).to.equal([
      { model: 'tiny:1b', stream: true },
      { model: 'tiny:1b', stream: true },
    ]);
    expect(operation.result).to.equal({ id: 'ollama-tiny-1b', model: 'ollama-tiny-1b' });
    const { body } = await stage.ask('GET', '/api/models/ollama-tiny-1b');
    expect(body).to.include({ provider: 'ollama', modelId: 'tiny:1b', baseUrl: library.origin });
    expect(await stage.listed('ollama-tiny-1b')).to.include({
      status: 'available',
      usedBy: ['models/ollama-tiny-1b'],
    });
    const again = await stage.ask('POST', '/api/capabilities/install', { id: 'ollama:tiny:1b' });
    expect([again.status, again.body.code]).to.equal([409, 'installed']);
  });

  it('that the library does not have ends with what Ollama says', async () => {
    library.habits.refusal = 'pull model manifest: file does not exist';
    const operation = await stage.install({ id: 'ollama:nothing' });
    expect([operation.status, operation.error]).to.equal([
      'failed',
      'pull model manifest: file does not exist',
    ]);
    expect(pulls().length).to.equal(1);
  });

  it('is removed from Ollama, not while a model uses it', async () => {
    await stage.install({ id: 'ollama:tiny:1b', useCase: 'chat' });
    const used = await stage.ask('DELETE', '/api/capabilities/ollama-tiny-1b');
    expect([used.status, used.body.code, used.body.details]).to.equal([
      409,
      'in_use',
      [{ path: 'usedBy', message: 'models/ollama-tiny-1b' }],
    ]);
    expect([...library.has]).to.equal(['tiny:1b']);
    const forced = await stage.ask('DELETE', '/api/capabilities/ollama-tiny-1b?force=true');
    expect([forced.status, [...library.has]]).to.equal([204, []]);
  });

  it('is not pulled where Ollama does not reply', async () => {
    await library.close();
    const reply = await stage.ask('POST', '/api/capabilities/install', { id: 'ollama:tiny:1b' });
    expect([reply.status, reply.body.code]).to.equal([409, 'no_ollama']);
    expect((await stage.listed('ollama')).status).to.equal('missing');
    library = await startLibrary();
  });
});
