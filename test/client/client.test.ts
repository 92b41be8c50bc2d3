import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient } from '../../src/client/client.js';
import { ApiError, Unreachable } from '../../src/client/errors.js';
import { frozenClock } from '../harness/clock.js';
import { runLoopTurns } from '../harness/turns.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

const json = { 'content-type': 'application/json' };
const notFound = {
  statusCode: 404,
  error: 'Not Found',
  message: 'No hook with that id',
  requestId: 'request_1',
};

/** What a call failed with; an error where it did not fail. */
const failure = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => new Error('It did not fail'),
    (error: unknown) => error,
  );

describe('client', () => {
  let server: Listening;
  afterEach(() => server.close());

  it('fills the path, the query and the body of a call', async () => {
    server = await listen((_request, response) => response.writeHead(200, json).end('{"id":"x"}'));
    const client = createClient({ url: `${server.origin}/`, token: 'token-1' });
    await client.hooks.executions({ id: 'a/b', query: { limit: 5, cursor: undefined } });
    await client.agents.message({ id: 'agent_1', body: { content: 'hi' } });
    expect(server.got.map(({ method, path, body }) => [method, path, body])).to.equal([
      ['GET', '/api/hooks/a%2Fb/executions?limit=5', ''],
      ['POST', '/api/agents/agent_1/message', '{"content":"hi"}'],
    ]);
    expect(server.got.map(({ headers }) => headers.authorization)).to.equal([
      'Bearer token-1',
      'Bearer token-1',
    ]);
  });

  it('refuses a call without its path parameter before asking', async () => {
    server = await listen();
    const error = await failure(createClient({ url: server.origin }).hooks.get());
    expect(error).to.be.an.error(TypeError, '/api/hooks/{id} requires the parameter id');
    expect(server.got).to.equal([]);
  });

  it('resolves with nothing where the answer has no body', async () => {
    server = await listen((_request, response) => response.writeHead(204).end());
    const reply = await createClient({ url: server.origin }).hooks.delete({ id: 'hook_1' });
    expect(reply).to.be.undefined();
  });

  it('throws the error body as an ApiError', async () => {
    server = await listen((_request, response) =>
      response.writeHead(404, json).end(JSON.stringify(notFound)),
    );
    const error = await failure(createClient({ url: server.origin }).hooks.get({ id: 'hook_1' }));
    expect(error).to.be.an.error(ApiError, 'No hook with that id');
    expect(error instanceof ApiError && error.body).to.equal(notFound);
  });

  it('throws an ApiError with the status where something else answers', async () => {
    server = await listen((_request, response) => response.writeHead(502).end('<h1>Bad</h1>'));
    const error = await failure(createClient({ url: server.origin }).health.get());
    expect(error).to.be.an.error(ApiError, 'The server replied with status 502 Bad Gateway');
    expect(error instanceof ApiError && error.reply).to.equal('<h1>Bad</h1>');
  });

  it('throws Unreachable where nobody listens, and says that nothing was done', async () => {
    server = await listen();
    await server.close();
    const error = await failure(createClient({ url: server.origin }).agents.stop({ id: 'a' }));
    expect(error).to.be.an.error(Unreachable);
    expect(error instanceof Unreachable && [error.reason, error.mayHaveActed]).to.equal([
      'connection refused',
      false,
    ]);
  });

  it('asks again with the same key where the answer to a write was lost', async () => {
    server = await listen((request, response) => {
      if (server.got.length < 3) request.socket.destroy();
      else response.writeHead(200, json).end('{"read":2}');
    });
    const clock = frozenClock();
    const reply = createClient({ url: server.origin, clock }).notifications['read-all']();
    for (const ms of [250, 500]) {
      await clock.waiting(ms);
      clock.forward(ms);
    }
    expect(await reply).to.equal({ read: 2 });
    const keys = new Set(server.got.map(({ headers }) => headers['idempotency-key']));
    expect([server.got.length, keys.size]).to.equal([3, 1]);
    expect([...keys][0]).to.match(/^[0-9a-f-]{36}$/);
  });

  it('waits while the daemon still works on the request that it repeats', async () => {
    const busy = { ...notFound, statusCode: 409, error: 'Conflict', code: 'idempotency_key_busy' };
    server = await listen((request, response) => {
      if (server.got.length === 1) request.socket.destroy();
      else if (server.got.length < 4) response.writeHead(409, json).end(JSON.stringify(busy));
      else response.writeHead(200, json).end('{"read":2}');
    });
    const clock = frozenClock();
    const reply = createClient({ url: server.origin, clock }).notifications['read-all']();
    for (const ms of [250, 1000, 1000]) {
      await clock.waiting(ms);
      clock.forward(ms);
    }
    expect(await reply).to.equal({ read: 2 });
  });

  it('does not wait for a request of somebody else with the same key', async () => {
    const busy = { ...notFound, statusCode: 409, error: 'Conflict', code: 'idempotency_key_busy' };
    server = await listen((_, response) => response.writeHead(409, json).end(JSON.stringify(busy)));
    const error = await failure(createClient({ url: server.origin }).notifications['read-all']());
    expect(error instanceof ApiError && error.code).to.equal('idempotency_key_busy');
  });

  it('does not repeat a call whose reply the daemon does not keep', async () => {
    server = await listen((request) => request.socket.destroy());
    const client = createClient({ url: server.origin });
    const body = { username: 'ada', password: 'correct horse' };
    const error = await failure(client.auth.register({ body }));
    expect(error instanceof Unreachable && error.mayHaveActed).to.be.true();
    expect(server.got.map(({ headers }) => headers['idempotency-key'])).to.equal([undefined]);
  });

  it('gives up after its time-out', async () => {
    const clock = frozenClock();
    server = await listen(() => clock.forward(30_000));
    const client = createClient({ url: server.origin, clock });
    const error = await failure(client.auth.register({ body: { password: 'x', username: 'ada' } }));
    expect(error).to.be.an.error(Unreachable);
    expect(error instanceof Unreachable && error.reason).to.equal('no reply within 30 s');
  });

  it('waits for a reply as long as its endpoint may take', async () => {
    const clock = frozenClock();
    server = await listen((_request, response) => {
      clock.forward(119_999);
      response.writeHead(200, json).end('{"ok":true}');
    });
    const { models } = createClient({ url: server.origin, clock });
    expect(await models.check({ name: 'qwen3' })).to.equal({ ok: true });
    const hasty = createClient({ url: server.origin, clock, timeoutMs: 5000 });
    const body = { username: 'ada', password: 'correct horse' };
    expect(await failure(hasty.auth.register({ body }))).to.be.an.error(Unreachable);
  });

  it('takes a time-out that is longer than any timer', async () => {
    server = await listen(async (_request, response) => {
      await runLoopTurns();
      response.writeHead(200, json).end('{"executions":[],"lastId":null}');
    });
    const client = createClient({ url: server.origin, timeoutMs: 3e12 });
    expect(await client.hooks.listen()).to.equal({ executions: [], lastId: null });
  });

  it('gives a call that waits for something that much more time', async () => {
    const clock = frozenClock();
    server = await listen((_request, response) => {
      clock.forward(31_999);
      response.writeHead(200, json).end('{"executions":[],"lastId":null}');
    });
    const client = createClient({ url: server.origin, clock });
    const reply = await client.hooks.listen({ query: { wait: 2 } });
    expect(reply).to.equal({ executions: [], lastId: null });
  });

  it('ends a call when its signal is aborted', async () => {
    const end = new AbortController();
    server = await listen(() => end.abort());
    const client = createClient({ url: server.origin, signal: end.signal });
    const error = await failure(client.health.get());
    expect(error).to.be.an.error();
    expect(error instanceof Error && error.name).to.equal('AbortError');
    expect(server.got.length).to.equal(1);
  });

  it('follows no redirect with its token', async () => {
    server = await listen((_request, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    const error = await failure(createClient({ url: server.origin, token: 't' }).health.get());
    expect(error).to.be.an.error(ApiError, 'The server replied with status 302 Found');
  });
});
