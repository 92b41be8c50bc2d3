import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign, startApp, type TestApp, until } from '../harness/app.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const SECRET = 'a secret of the hook';
const VALUE = 'ghp_canary/of+the broker';

describe('a tool argument that names a credential', () => {
  let app: TestApp;
  let target: Target;
  let token: string;

  before(async () => {
    target = await openTarget();
    app = await startApp({ config: { egressAllow: [target.address], allowUnconfined: true } });
    ({ token } = await app.register('ada'));
    await store('pat', ['http.request'], [target.address]);
    await store('no-tool', [], [target.address]);
    await store('no-host', ['http'], ['api.example.com']);
  });
  after(async () => {
    await app.stop();
    target.close();
  });
  beforeEach(() => {
    target.received.length = 0;
  });

  const store = (name: string, allowedTools: string[], allowedHosts: string[]) =>
    app.call('POST', '/api/vault', {
      token,
      body: { name, value: VALUE, allowedTools, allowedHosts },
    });
  const request = (args: object) =>
    app.call('POST', '/api/skills/http/tools/request/execute', {
      token,
      body: { arguments: { method: 'GET', url: target.url, ...args } },
    });

  it('is put in at the edge, whole or within a text', async () => {
    await request({
      headers: { 'x-key': { $credential: 'pat' }, authorization: 'Bearer $credential(pat)' },
    });
    const [got] = target.received;
    expect([got?.headers['x-key'], got?.headers.authorization]).to.equal([
      VALUE,
      `Bearer ${VALUE}`,
    ]);
  });

  it('is swept from the result, however it is written there', async () => {
    target.answer = (response) => {
      const base64 = Buffer.from(VALUE).toString('base64');
      response.setHeader('x-echo', encodeURIComponent(VALUE));
      response.end(`${VALUE} ${base64}`);
    };
    const { status, body, text } = await request({ headers: { a: '$credential(pat)' } });
    expect([status, body.result.body, body.result.headers['x-echo']]).to.equal([
      200,
      '[secret] [secret]',
      '[secret]',
    ]);
    expect(text).to.not.contain('canary');
  });

  it('is swept from a text that is read on from the middle of it', async () => {
    target.answer = (response) => response.end(`${'x'.repeat(90)}${VALUE} and more`);
    for (let offset = 85; offset < 125; offset++) {
      const { body } = await request({ headers: { a: '$credential(pat)' }, offset });
      const whole = `${'x'.repeat(90)}[secret] and more`;
      expect(body.result.body).to.equal(whole.slice(offset));
    }
  });

  it('reaches a program by its environment, and never by its arguments', async () => {
    await store('for-shell', ['shell.run'], []);
    const permission = { skillId: 'shell', action: 'run', level: 'allow' };
    await app.call('PUT', '/api/skills/permissions', { token, body: permission });
    const run = async (args: object) => {
      const path = '/api/skills/shell/tools/run/execute';
      return app.call('POST', path, { token, body: { arguments: args } });
    };
    for (const named of ['$credential(for-shell)', { $credential: 'for-shell' }]) {
      const refused = await run({ argv: ['echo', named] });
      expect([refused.status < 500, refused.body.message]).to.equal([
        true,
        'The value of the credential for-shell must not be in argv, which other users of the machine can read. ' +
          'Put it in env and let the program read it from there.',
      ]);
    }
    const script = 'test "$TOKEN" = "$WANTED" && echo "$TOKEN" && tr "\\0" " " < /proc/$$/cmdline';
    const halves = { FIRST: VALUE.slice(0, 5), REST: VALUE.slice(5) };
    const argv = ['sh', '-c', `WANTED="$FIRST$REST"; ${script}`];
    const ran = await run({ argv, env: { ...halves, TOKEN: '$credential(for-shell)' } });
    const { exitCode, stdout } = ran.body.result;
    expect([exitCode, stdout.includes('[secret]'), stdout.includes(VALUE)]).to.equal([
      0,
      true,
      false,
    ]);
  });

  it('goes no further than its host, wherever that sends us', async () => {
    const body = { skillId: 'http', action: 'request', level: 'allow' };
    await app.call('PUT', '/api/skills/permissions', { token, body });
    const location = target.url.replace('127.0.0.1', 'localhost');
    target.answer = (response) => response.writeHead(307, { location }).end();
    const reply = await request({ method: 'POST', body: '$credential(pat)' });
    expect([reply.status, reply.body.result.status]).to.equal([200, 307]);
    expect(target.received.length).to.equal(1);
    target.answer = (response) => response.end('fine');
  });

  const inAddress = /^The credential pat must not be in a URL\. Put it in a header or in the body$/;
  const unknown = /^No credential named nobody$/;
  for (const [why, args, words] of [
    [
      'for another tool',
      { headers: { a: '$credential(no-tool)' } },
      /Add the tool to its allowedTools\.$/,
    ],
    ['for another host', { headers: { a: '$credential(no-host)' } }, /allowedHosts$/],
    ['unknown', { headers: { a: '$credential(nobody)' } }, unknown],
    ['in the address', { url: 'http://127.0.0.1/?k=$credential(pat)' }, inAddress],
    [
      'unknown, in a name',
      { headers: { '$credential(nobody)': 'a', b: '$credential(pat)' } },
      unknown,
    ],
    ['in the address, whole', { url: { $credential: 'pat' } }, inAddress],
  ] as const) {
    it(`is refused where it is ${why}, and nothing is sent`, async () => {
      const { status, text, body } = await request(args);
      expect(status).to.equal(409);
      expect(body.message).to.match(words);
      expect(text).to.not.contain('canary');
      expect(target.received).to.equal([]);
    });
  }

  it('is nobody’s but its owner’s', async () => {
    const eve = await app.register('eve');
    const reply = await app.call('POST', '/api/skills/http/tools/request/execute', {
      token: eve.token,
      body: {
        arguments: { method: 'GET', url: target.url, headers: { a: '$credential(pat)' } },
      },
    });
    expect([reply.status, reply.body.message]).to.equal([409, 'No credential named pat']);
    expect(target.received).to.equal([]);
  });

  it('is not named by a payload, whatever its template lets in', async () => {
    const ids = new Map<string, string>();
    const forward = async (path: string, body: string) => {
      const { body: hook } = await app.call('POST', '/api/hooks', {
        token,
        body: {
          ...{ name: path, trigger: 'webhook', action: 'execute_tool' },
          triggerConfig: { webhookPath: path, webhookSecret: SECRET },
          actionConfig: {
            ...{ toolId: 'http', toolAction: 'request' },
            toolParams: {
              ...{ method: 'POST', url: target.url, body },
              headers: { authorization: 'Bearer $credential(pat)' },
            },
          },
        },
      });
      ids.set(path, hook.id);
    };
    const ended = async (path: string, payload: object) => {
      const text = JSON.stringify(payload);
      const headers = { 'x-hub-signature-256': sign(SECRET, text) };
      await app.call('POST', `/api/webhooks/${path}`, { body: text, headers });
      const { body } = await until(
        () => app.call('GET', `/api/hooks/${ids.get(path)}/executions?limit=1`, { token }),
        (reply) => ['success', 'error'].includes(reply.body.executions[0]?.status),
      );
      return body.executions[0];
    };
    await forward('said', '{{webhook.body.text}}');
    await forward('named', '$credential({{webhook.body.text}})');
    for (const [path, payload] of [
      ['said', { text: 'Give me $credential(pat)' }],
      ['named', { text: 'pat' }],
    ] as const) {
      expect(await ended(path, payload)).to.include({
        status: 'error',
        error:
          'The payload contains a credential reference. Only the toolParams of the hook may contain one',
      });
      expect(target.received).to.equal([]);
    }
    expect((await ended('said', { text: 'Hello' })).status).to.equal('success');
    expect(target.received.map(({ headers }) => headers.authorization)).to.equal([
      `Bearer ${VALUE}`,
    ]);
  });
});
