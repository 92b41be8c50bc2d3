import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../src/kernel/http.js';
import { httpTools } from '../../src/tools/http.js';
import { type Listening, listen } from '../kernel/listen.js';
import { contextOf, failureOf } from './context.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('http.request', () => {
  let http: Http;
  let server: Listening;
  const run = async (args: Record<string, unknown>, context = contextOf()) =>
    httpTools(http).tools[0]?.run(args, context);

  before(async () => {
    server = await listen(answer);
    http = createHttp({ allow: [server.entry, '127.0.0.1:1'] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });

  /** The request as it arrived. */
  const sent = async (args: Record<string, unknown>) => {
    await run({ url: `${server.origin}/echo?a=1`, ...args });
    return server.got.at(-1);
  };

  it('sends what it was given and returns status, headers and text', async () => {
    const headers = { 'Content-Type': 'application/json', 'X-Mine': 'a' };
    const url = `${server.origin}/echo?a=1`;
    const reply = await run({ method: 'PUT', url, headers, body: '{"ü":1}' });
    const { headers: got } = Object(reply);
    expect(reply).to.equal({ url, status: 200, headers: got, body: '{"left": "so"}' });
    expect(Object(reply).headers['content-length']).to.equal('14');
    const { method, path, body, headers: seen } = Object(server.got.at(-1));
    expect([method, path, body]).to.equal(['PUT', '/echo?a=1', '{"ü":1}']);
    expect([seen['content-type'], seen['x-mine']]).to.equal(['application/json', 'a']);
  });

  it('sends the effect id with methods that have effects, unless another is given', async () => {
    const ids = async (args: Record<string, unknown>) => {
      const headers = (await sent(args))?.headers;
      return [headers?.['webhook-id'], headers?.['idempotency-key']];
    };
    expect(await ids({ method: 'POST' })).to.equal(['effect_1', 'effect_1']);
    expect(await ids({ method: 'GET' })).to.equal([undefined, undefined]);
    const headers = { 'Idempotency-Key': 'mine' };
    expect(await ids({ method: 'POST', headers })).to.equal(['effect_1', 'mine']);
  });

  it('says how often what it is about came back, whatever it is told to say', async () => {
    const headers = { 'X-Adjutant-Hops': '0' };
    const hops = async (method: string, more = {}) => {
      const url = `${server.origin}/echo?a=1`;
      await run({ method, url, headers }, contextOf(more));
      return server.got.at(-1)?.headers['x-adjutant-hops'];
    };
    expect(await hops('POST')).to.equal('1');
    expect(await hops('DELETE', { hops: 8 })).to.equal('9');
  });

  it('cuts a long text between characters, says how much is missing, and reads on', async () => {
    const read = async (path: string, offset?: number) => {
      const args = { method: 'GET', url: `${server.origin}${path}`, offset };
      const { body, truncated } = Object(await run(args));
      return [body.length, body.at(0), body.at(-1), truncated];
    };
    expect(await read('/long')).to.equal([
      262_143,
      'x',
      '\udd11',
      {
        missingChars: 37_858,
        nextOffset: 262_143,
      },
    ]);
    expect(await read('/long', 262_143)).to.equal([37_858, '\ud83e', '\udd11', undefined]);
    expect(await read('/long', 262_144)).to.equal([37_858, '\ud83e', '\udd11', undefined]);
    expect(await read('/just')).to.equal([262_144, 'x', 'x', undefined]);
    expect(await read('/just', 262_143)).to.equal([1, 'x', 'x', undefined]);
    expect(await read('/just', 9_000_000)).to.equal([0, undefined, undefined, undefined]);
  });

  it('returns parts that fit the caller, and all of the text', async () => {
    const context = contextOf({ longestResult: 65_536 });
    const args = { method: 'GET', url: `${server.origin}/escapes` };
    let text = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const reply: Record<string, unknown> = Object(await run({ ...args, offset }, context));
      expect(JSON.stringify(reply).length).to.be.between(1_000, 65_536);
      text += reply.body;
      offset = Object(reply.truncated).nextOffset;
    }
    expect(text === texts['/escapes']).to.be.true();
  });

  it('redacts the whole text before it is cut', async () => {
    const redact = async (text: string) => text.replace('abcdefgh', '[secret]');
    const args = { method: 'GET', url: `${server.origin}/secret`, offset: 104 };
    const { body } = Object(await run(args, contextOf({ redact })));
    expect(body).to.equal('ret] and more');
  });

  it('reads on with GET only, since asking again repeats an effect', async () => {
    const posted = await run({ method: 'POST', url: `${server.origin}/long` });
    expect(Object(posted).truncated).to.equal({ missingChars: 37_858, nextOffset: null });
    const before = server.got.length;
    const on = failureOf(run({ method: 'POST', url: `${server.origin}/long`, offset: 1 }));
    expect((await on).details).to.equal([{ path: 'offset', message: 'is allowed with GET only' }]);
    expect(server.got.length).to.equal(before);
  });

  it('undoes a content-encoding', async () => {
    const reply = Object(await run({ method: 'POST', url: `${server.origin}/gzip` }));
    expect([reply.body, reply.headers['content-encoding']]).to.equal(['unzipped', 'gzip']);
    expect(server.got.at(-1)?.headers['accept-encoding']).to.equal('br, gzip, deflate');
  });

  it('tells safe methods from others', () => {
    const tool = httpTools(http).tools[0];
    const safe = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', undefined].map((method) =>
      tool?.isSafe({ method }),
    );
    expect(safe).to.equal([true, true, false, false, false, false, false]);
    expect([tool?.sideEffects, tool?.sendsOut, tool?.once]).to.equal([true, true, false]);
  });

  it('refuses bad arguments, naming each field', async () => {
    const bad = {
      method: 'get',
      url: 5,
      headers: { 'a b': 'x', 'x-a': 'secret\r\nx-b: 1', ok: 'ü' },
      body: {},
      more: 1,
    };
    expect(await failureOf(run(bad))).to.equal({
      name: 'ToolRefused',
      message:
        'http.request: method must be one of [GET, HEAD, POST, PUT, PATCH, DELETE]; url must be a string; headers.x-a must be Latin-1 without control characters; headers.a b is not allowed; body must be a string; more is not allowed',
      details: [
        { path: 'method', message: 'must be one of [GET, HEAD, POST, PUT, PATCH, DELETE]' },
        { path: 'url', message: 'must be a string' },
        { path: 'headers.x-a', message: 'must be Latin-1 without control characters' },
        { path: 'headers.a b', message: 'is not allowed' },
        { path: 'body', message: 'must be a string' },
        { path: 'more', message: 'is not allowed' },
      ],
    });
  });

  it('refuses a body with a method that has none', async () => {
    expect(await failureOf(run({ method: 'GET', url: server.origin, body: 'x' }))).to.equal({
      name: 'ToolRefused',
      message: 'http.request: body is not allowed with GET',
      details: [{ path: 'body', message: 'is not allowed with GET' }],
    });
  });

  it('refuses an address that is not http, or that the guard refuses', async () => {
    const file = await failureOf(run({ method: 'GET', url: 'file:///etc/passwd' }));
    expect(file.message).to.equal(
      'http.request: url cannot be used: The URL must begin with http:// or https://',
    );
    const inner = await failureOf(run({ method: 'POST', url: 'http://127.0.0.2/' }));
    expect(inner.name).to.equal('ToolRefused');
    expect(inner.message).to.contain('egressAllow (ADJUTANT_EGRESS_ALLOW)');
  });

  it('fails with what is known of the effect', async () => {
    const broken = async (method: string) =>
      failureOf(run({ method, url: `${server.origin}/break` }));
    const message = '127.0.0.1: the connection was interrupted';
    const failed = { name: 'ToolFailed', message };
    expect(await broken('POST')).to.equal({ ...failed, effectBegan: true });
    expect(await broken('GET')).to.equal({ ...failed, effectBegan: false });
    const closed = await failureOf(run({ method: 'POST', url: 'http://127.0.0.1:1/' }));
    expect(closed).to.equal({
      name: 'ToolFailed',
      message: '127.0.0.1: the connection was refused',
      effectBegan: false,
    });
  });

  it('begins nothing once stopped', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const stopped = run({ method: 'GET', url: server.origin }, contextOf({ signal }));
    await expect(stopped).to.reject('stopped');
  });

  it('tells models what it takes', () => {
    expect(httpTools(http).tools[0]?.inputSchema).to.equal({
      type: 'object',
      properties: {
        method: { type: 'string', enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
        url: {
          type: 'string',
          minLength: 1,
          maxLength: 8_192,
          description: 'http or https address without credentials',
        },
        headers: {
          type: 'object',
          properties: {},
          required: [],
          additionalProperties: {
            type: 'string',
            maxLength: 8_192,
            pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
          },
          maxProperties: 50,
          description: 'Request headers by name',
        },
        body: {
          type: 'string',
          maxLength: 1_048_576,
          description: 'Body text, sent unchanged. For JSON, also set a content-type header.',
        },
        offset: {
          type: 'integer',
          minimum: 0,
          maximum: 10_000_000,
          description:
            'Start position, in characters. Defaults to 0. To read on, pass truncated.nextOffset.',
        },
      },
      required: ['method', 'url'],
      additionalProperties: false,
    });
  });
});

const answer: RequestListener = (request, response) => {
  if (request.url === '/break') request.socket.destroy();
  else if (request.url === '/gzip') {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('unzipped'));
  } else response.end(texts[request.url ?? ''] ?? '{"left": "so"}');
};

const texts: Record<string, string> = {
  '/long': `x${'🤑'.repeat(150_000)}`,
  '/just': 'x'.repeat(256 * 1024),
  '/escapes': '"\\\n\u0001🤑x'.repeat(20_000),
  '/secret': `${'x'.repeat(100)}abcdefgh and more`,
};
