import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MiB = 1024 * 1024;

describe('the server', () => {
  let app: TestApp;
  let token: string;

  before(async () => {
    app = await startApp();
    token = (await app.register('ada')).token;
  });

  after(() => app.stop());

  it('answers every error with the one body', async () => {
    const { status, body, headers } = await app.call('GET', '/nowhere');
    expect({ status, body }).to.equal({
      status: 404,
      body: {
        statusCode: 404,
        error: 'Not Found',
        message: 'Not Found',
        requestId: headers['x-request-id'],
      },
    });
  });

  it('leads a browser with a wrong link to the page, and nobody else', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/nowhere', '/hooks', '/notifications/x', '/approvals/x/y']) {
      const { status, headers, text } = await app.call('GET', path, { headers: browser });
      expect([status, headers['content-type']], path).to.equal([404, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy'], path).to.include("default-src 'none'");
      expect(headers['x-request-id'], path).to.match(/\S/);
      expect(text, path).to.include('<script type="module"');
    }
    for (const [method, path, accept] of [
      ['GET', '/nowhere', '*/*'],
      ['GET', '/nowhere', 'application/json'],
      ['POST', '/nowhere', browser.accept],
      ['GET', '/api/nowhere', browser.accept],
      ['GET', '/swagger/nowhere', browser.accept],
      ['GET', '/ws/nowhere', browser.accept],
    ] as const) {
      const { status, body } = await app.call(method, path, { headers: { accept } });
      expect([status, body.error], `${method} ${path} ${accept}`).to.equal([404, 'Not Found']);
    }
    try {
      await app.restart({ page: 'off' });
      const { status, body } = await app.call('GET', '/nowhere', { headers: browser });
      expect([status, body.error]).to.equal([404, 'Not Found']);
    } finally {
      await app.restart({ page: 'on' });
    }
  });

  it('answers a range that a reply does not hold, and an unknown expectation, with that body', async () => {
    const length = (await app.call('GET', '/health/live')).text.length;
    const ranges = ['bytes=900-', 'bytes=0-1,900-', 'bytes=5-2', 'bytes=-0', 'items=1-2'];
    for (const path of ['/health/live', '/swagger']) {
      for (const range of path === '/swagger' ? ['bytes=90000-'] : ranges) {
        const refused = await app.call('GET', path, { headers: { range, 'x-request-id': 'r-1' } });
        const size = path === '/swagger' ? (await app.call('GET', path)).text.length : length;
        expect([refused.headers['content-range'], refused.body], range).to.equal([
          `bytes */${size}`,
          {
            statusCode: 416,
            error: 'Requested Range Not Satisfiable',
            message: `Range not satisfiable. The content has ${size} bytes`,
            requestId: 'r-1',
          },
        ]);
      }
    }
    const held = await app.call('GET', '/health/live', { headers: { range: 'bytes=0-1,3-5' } });
    expect(held.status).to.equal(200);
    const part = await app.call('GET', '/health/live', { headers: { range: 'bytes=2-7' } });
    expect([part.status, part.text]).to.equal([206, 'status']);
    const expecting = { expect: 'a miracle', 'x-request-id': 'r-2' };
    const { status, text } = await raw(app.url, '/api/hooks', token, expecting);
    expect([status, JSON.parse(text)]).to.equal([
      417,
      {
        statusCode: 417,
        error: 'Expectation Failed',
        message: 'Unsupported Expect header. Only 100-continue is supported',
        requestId: 'r-2',
      },
    ]);
  });

  it('ignores what probes add to the paths of health, and nothing else', async () => {
    for (const path of ['/health', '/health/live', '/health/ready', '/health/detailed']) {
      const reply = await app.call('GET', `${path}?_=17&verbose&verbose=1`);
      expect(reply.status, path).to.equal(200);
    }
    expect((await app.call('GET', '/metrics?_=17', { token })).status).to.equal(400);
    expect((await app.call('GET', '/api/hooks?_=17', { token })).status).to.equal(400);
  });

  it('names each bad field', async () => {
    const { status, body } = await app.call('POST', '/api/agents', {
      token,
      body: { prompt: 5, limits: { maxSteps: 'many' }, who: 1 },
    });
    expect(status).to.equal(400);
    expect(body.details.map(({ path }: { path: string }) => path)).to.equal([
      'prompt',
      'limits.maxSteps',
      'who',
    ]);
    expect(body.message).to.match(/^Invalid request: prompt must be a string; /);
  });

  it('takes a sane request id, makes one otherwise, and says it in the error', async () => {
    const sane = await app.call('GET', '/api/hooks', { headers: { 'x-request-id': 'my.id-1' } });
    expect([sane.headers['x-request-id'], sane.body.requestId]).to.equal(['my.id-1', 'my.id-1']);
    for (const id of ['a b', '<script>', 'x'.repeat(65), 'ü']) {
      const headers = { 'x-request-id': encodeURI(id) };
      const reply = await app.call('GET', '/health', { headers });
      expect(reply.headers['x-request-id']).to.match(/^request_[0-9a-z]{26}$/);
    }
  });

  it('ignores a trailing slash, and no other difference in a path', async () => {
    expect((await app.call('GET', '/api/hooks/', { token })).status).to.equal(200);
    for (const path of ['/API/hooks', '/api//hooks', '/api/hooks/%2e%2e', '/api/Hooks']) {
      expect((await app.call('GET', path, { token })).status, path).to.equal(404);
    }
  });

  it('answers HEAD as GET without a body, and OPTIONS with 404 where no origin is configured', async () => {
    const head = await app.call('HEAD', '/health');
    expect([head.status, head.text]).to.equal([200, '']);
    expect((await app.call('HEAD', '/api/hooks')).status).to.equal(401);
    const options = await app.call('OPTIONS', '/api/hooks', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
    });
    expect([options.status, options.headers['access-control-allow-origin']]).to.equal([
      404,
      undefined,
    ]);
  });

  it('ignores cookies, malformed ones too', async () => {
    for (const cookie of ['a=b', '=;;;,"', 'session=%%%', 'x'.repeat(2000)]) {
      expect((await app.call('GET', '/health', { headers: { cookie } })).status).to.equal(200);
    }
  });

  it('takes JSON alone', async () => {
    const send = (type: string | null, body: string) =>
      app.call('POST', '/api/auth/login', { type, body });
    for (const type of ['text/plain', 'nonsense', 'application/x-www-form-urlencoded', 'a/b;;=']) {
      expect((await send(type, '{}')).status, type).to.equal(415);
    }
    expect((await send('multipart/form-data; boundary=x', '--x--')).status).to.equal(415);
    expect((await send('application/json; charset=utf-8', '{}')).status).to.equal(400);
  });

  it('refuses what is not JSON, what would change prototypes, and what is nested too deep', async () => {
    const send = (body: string) => app.call('POST', '/api/auth/login', { body });
    for (const body of [
      '{',
      '{"username":"a"',
      "{'a':1}",
      'undefined',
      '\u0000',
      '{"__proto__":{"role":"admin"}}',
      '{"a":{"constructor":{"prototype":{"x":1}}}}',
      `${'['.repeat(65)}${']'.repeat(65)}`,
      `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    ]) {
      expect((await send(body)).status, body.slice(0, 40)).to.equal(400);
    }
    expect(Object.hasOwn(Object.prototype, 'role')).to.be.false();
  });

  it('refuses a body over 1 MiB', async () => {
    const body = JSON.stringify({ prompt: 'x'.repeat(MiB) });
    expect((await app.call('POST', '/api/agents', { token, body })).status).to.equal(413);
  });

  it('unpacks gzip up to the same size', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(200 * MiB, ' '));
    const refused = await app.call('POST', '/api/agents', { token, headers, body: bomb });
    expect(refused.status).to.equal(413);
    const small = gzipSync(JSON.stringify({ username: 'ada', password: 'wrong password' }));
    const login = await app.call('POST', '/api/auth/login', { headers, body: small });
    expect(login.status).to.equal(401);
    const broken = await app.call('POST', '/api/auth/login', { headers, body: '{}' });
    expect(broken.status).to.equal(400);
  });

  it('answers 400 to a path and a query that cannot be read', async () => {
    for (const path of ['/api/hooks/%', '/api/hooks/%zz', '/%ff', '/api/hooks/%00?%']) {
      const reply = await raw(app.url, path, token);
      expect(reply.status, path).to.be.within(400, 404);
      expect(JSON.parse(reply.text)).to.include(['statusCode', 'error', 'message', 'requestId']);
    }
  });
});

describe('the server with origins', () => {
  it('lets their pages call, and no others', async () => {
    const app = await startApp({ config: { origins: ['https://desk.example.org'] } });
    try {
      const preflight = (origin: string) =>
        app.call('OPTIONS', '/api/hooks', {
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,idempotency-key',
          },
        });
      const right = await preflight('https://desk.example.org');
      expect(right.headers['access-control-allow-origin']).to.equal('https://desk.example.org');
      expect(right.headers['access-control-allow-headers']).to.include('Idempotency-Key');
      const wrong = await preflight('https://evil.example');
      expect(wrong.headers['access-control-allow-origin']).to.be.undefined();
    } finally {
      await app.stop();
    }
  });
});

/** A path as it is; fetch would put it right. */
const raw = (url: string, path: string, token: string, more: Record<string, string> = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const headers = { authorization: `Bearer ${token}`, ...more };
    request({ hostname, port, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
