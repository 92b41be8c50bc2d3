import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../../harness/app.js';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';
import { inside } from '../../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const silent = createServer();
let target: string;
let desk: Desk;
before(async () => {
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  target = `http://127.0.0.1:${port}/`;
  desk = await openDesk({
    config: { egressAllow: [`127.0.0.1:${port}`], jobConcurrency: 4, drainSeconds: 0 },
  });
});
after(async () => {
  silent.closeAllConnections();
  silent.close();
  await desk.test.stop();
});

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const lastRun = async (id: string, count = 1) => (await desk.ended(id, count))[0];

describe('paths', () => {
  it('match exactly or not at all', async () => {
    const taken = ['ab', 'a', 'A-B', '__proto__', 'constructor', 'grüße 🔑', '50%', 'a.b'];
    for (const path of taken) await desk.hook(onPath(path));
    for (const path of taken) {
      expect((await desk.deliver(encodeURIComponent(path), '{"n":1}')).status).to.equal(202);
    }
    const others = [
      'a%2Fb',
      'A',
      'a-b',
      'a%00',
      '%00',
      'toString',
      'x'.repeat(2048),
      'a%20',
      '%2561',
    ];
    for (const path of others) {
      expect((await desk.deliver(path, '{"n":1}')).status).to.equal(404);
    }
    for (const path of ['%', '%zz', '%ff', '%ED%A0%80']) {
      expect((await desk.deliver(path, '{"n":1}')).status).to.equal(400);
    }
    expect((await desk.deliver('ab/', '{"n":1}')).status).to.equal(202);
  });
});

describe('bodies', () => {
  it('are verified and handed on as they were sent', async () => {
    const id = await desk.hook({
      ...onPath('odd'),
      actionConfig: { notifyMessage: '{{webhook.body.t}} {{webhook.body.n}}' },
    });
    const body = ' {\r\n\t"t" :"\\u00e9\\ud83d\\ude00\\/", "n": 1.0e2 ,"n2":-0}\n ';
    await desk.deliver('odd', body);
    const run = await lastRun(id);
    expect(run.result).to.equal({ message: 'é😀/ 1.0e2' });
    const kept = await desk.test.app.store.db
      .selectFrom('deliveries')
      .select('body')
      .where('id', '=', run.deliveryId)
      .executeTakeFirst();
    expect(kept?.body).to.equal(body);
  });

  it('name no configuration: the stored one alone is used', async () => {
    const other = await desk.hook(onPath('other'));
    const id = await desk.hook(onPath('named'));
    const body = JSON.stringify({
      n: 7,
      hookId: other,
      ownerId: 'user_other',
      userId: 'user_other',
      action: 'execute_tool',
      actionConfig: { toolId: 'shell', toolAction: 'run' },
      enabled: false,
      secret: 'x',
    });
    await desk.deliver('named', body);
    const { hookId, action, result } = await lastRun(id);
    expect({ hookId, action, result }).to.equal({
      hookId: id,
      action: 'notify',
      result: { message: 'Got 7' },
    });
    expect(await desk.runs(other)).to.equal([]);
  });

  it('may be nested 64 deep, not 65', async () => {
    const id = await desk.hook(onPath('deep'));
    const statusOf = async (body: string) => (await desk.deliver('deep', body)).status;
    expect(await statusOf(nested(64))).to.equal(202);
    for (const body of [nested(65), nested(1_000_000), `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`]) {
      expect(await statusOf(body)).to.equal(400);
    }
    expect(await statusOf(`["${'['.repeat(100)}","\\"${'['.repeat(100)}"]`)).to.equal(202);
    expect(await desk.ended(id, 2)).to.have.length(2);
  });

  it('are refused with a prototype key, however it is spelt', async () => {
    await desk.hook(onPath('proto'));
    const bodies = [
      '{"__proto__":{"isAdmin":true}}',
      '{"a":[{"\\u005f_proto__":1}]}',
      '{"a":{"__proto\\u005f\\u005f" : {}}}',
    ];
    for (const body of bodies) expect((await desk.deliver('proto', body)).status).to.equal(400);
    expect((await desk.deliver('proto', '{"n":"__proto__","constructor":1}')).status).to.equal(202);
    expect(Object.keys(Object.prototype)).to.equal([]);
  });

  it('are refused where they are no UTF-8', async () => {
    await desk.hook(onPath('utf8'));
    const bodies = [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ];
    for (const bytes of bodies) {
      const body = Buffer.from([0x5b, ...bytes, 0x5d]);
      expect((await desk.deliver('utf8', body)).status).to.equal(400);
    }
  });

  it('may have 100,000 keys', async () => {
    const id = await desk.hook(onPath('keys'));
    const keys = Array.from({ length: 100_000 }, (_each, at) => [`k${at}`, at]);
    const body = JSON.stringify({ ...Object.fromEntries(keys), n: 1 });
    expect((await desk.deliver('keys', body)).status).to.equal(202);
    expect((await lastRun(id)).result).to.equal({ message: 'Got 1' });
  });
});

describe('headers', () => {
  it('are kept but for signatures, secrets and authorisation', async () => {
    const id = await desk.hook(onPath('headers'));
    const secrets = {
      authorization: 'canary-1',
      cookie: 'a=canary-2',
      'x-hub-signature': 'sha1=canary-3',
      'x-gitlab-token': 'canary-4',
      'x-webhook-secret': 'canary-5',
      'stripe-signature': 't=1,v1=canary-6',
      'x-shopify-hmac-sha256': 'canary-7',
      'x-api-key': 'canary-8',
      'proxy-authorization': 'canary-9',
      'webhook-signature': 'v1,canary-10',
    };
    const headers = { ...secrets, 'x-request-source': 'kept', 'x-long': 'x'.repeat(5000) };
    await desk.deliver('headers', '{"n":1}', { headers });
    const run = await lastRun(id);
    const kept = run.triggerContext.webhook.headers;
    expect(JSON.stringify(run)).to.not.contain('canary');
    expect(Object.keys(kept).filter((name) => name in secrets)).to.equal([]);
    expect(kept['x-hub-signature-256']).to.be.undefined();
    expect(kept['x-request-source']).to.equal('kept');
    expect(kept['x-long']).to.have.length(2000);
  });

  it('give the event’s name, on one line and at most 100 characters of it', async () => {
    const id = await desk.hook(onPath('events'));
    const names: [Record<string, string>, string | null][] = [
      [{ 'x-github-event': 'issues' }, 'issues'],
      [{ 'x-gitlab-event': 'Push Hook' }, 'Push Hook'],
      [{ 'x-gitea-event': 'push' }, 'push'],
      [{ 'x-gitea-event': 'push', 'x-github-event': 'issues' }, 'issues'],
      [{ 'x-github-event': ' a\tb\u0085c ' }, 'abc'],
      [{ 'x-github-event': 'x'.repeat(300) }, 'x'.repeat(100)],
      [{ 'x-github-event': '\t' }, null],
      [{}, null],
    ];
    for (const [at, [headers, event]] of names.entries()) {
      await desk.deliver('events', '{"n":1}', { headers });
      expect((await lastRun(id, at + 1)).triggerContext.event).to.equal(event);
    }
  });
});

describe('a backlog at its cap', () => {
  it('is answered with 429, and nothing is claimed', async () => {
    const id = await desk.hook({
      ...onPath('busy'),
      concurrency: 1,
      action: 'webhook',
      actionConfig: { webhookUrl: target },
    });
    const named = { headers: { 'webhook-id': 'd-2' } };
    await desk.deliver('busy', '{"n":1}');
    await until(
      () => desk.runs(id),
      ([run]) => run?.status === 'running',
    );
    const { queue } = inside(desk.test.app);
    queue.added(id, 100_000);
    const { status, headers, body } = await desk.deliver('busy', '{"n":2}', named);
    expect([status, headers['retry-after'], body.code]).to.equal([429, '30', 'delivery_backlog']);
    expect((await desk.deliver('busy', '{"n":2}', { ...named, secret: 'x' })).status).to.equal(401);
    expect((await desk.deliver('busy', '{"n":3}', named)).status).to.equal(429);
    expect(await desk.runs(id)).to.have.length(1);
    await ownerIsTold(desk);
    await desk.ask('PUT', `/api/hooks/${id}`, { concurrency: 2 });
    queue.added(id, 0);
    await untilMatches(async () => queue.waiting(id), 0);
    expect((await desk.deliver('busy', '{"n":2}', named)).status).to.equal(202);
  });
});

/** The owner of the full hook gets one notification, and the daemon's state is a warning. */
const ownerIsTold = async (desk: Desk): Promise<void> => {
  const { notifications } = await until(
    async () => (await desk.ask('GET', '/api/notifications?kind=hook_full')).body,
    (page) => page.notifications.length > 0,
  );
  expect(notifications.length).to.equal(1);
  expect(notifications[0].link).to.match(/^\/executions\?hookId=hook_\w{26}$/);
  expect(notifications[0].body).to.match(/^100000 executions of this hook are queued\. /);
  const { parts } = (await desk.ask('GET', '/health/detailed')).body;
  const queue = parts.find(({ name }: { name: string }) => name === 'queue');
  expect([queue.status, queue.detail]).to.equal([
    'warn',
    '100000 waiting, 1 running; 100000 of 100000 for one hook',
  ]);
};
