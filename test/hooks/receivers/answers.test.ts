import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign } from '../../harness/app.js';
import { type Desk, onPath, openDesk, SECRET } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

const refusal = (statusCode: number, error: string, message: string) => ({
  statusCode,
  error,
  message,
});
const without = ({ requestId: _requestId, ...rest }: Record<string, unknown>) => rest;
const UNSIGNED = refusal(
  401,
  'Unauthorized',
  'The signature is missing or does not match. Check the secret of the hook',
);
const UNKNOWN = refusal(404, 'Not Found', 'No hook matches this path. Check the URL of the hook');

describe('the receiver', () => {
  it('answers 202 with the executions of all hooks that verify', async () => {
    const [first, second] = [await desk.hook(onPath('both')), await desk.hook(onPath('both'))];
    const { status, body } = await desk.deliver('both', '{"n":1}');
    expect(status).to.equal(202);
    const [[one], [two]] = [await desk.ended(first), await desk.ended(second)];
    expect(body).to.equal({
      received: true,
      accepted: true,
      hooks: 2,
      deliveryId: one.deliveryId,
      executions: [one.id, two.id],
    });
    expect(two.deliveryId).to.equal(one.deliveryId);
  });

  it('fires each of two hooks once, and only those whose secret verifies', async () => {
    const mine = await desk.hook(onPath('two-secrets', 'mine'));
    const other = await desk.hook(onPath('two-secrets', 'other'));
    const { body } = await desk.deliver('two-secrets', '{"n":1}', { secret: 'mine' });
    expect(body.hooks).to.equal(1);
    expect((await desk.ended(mine)).map(({ status }) => status)).to.equal(['success']);
    expect(await desk.runs(other)).to.equal([]);
  });

  it('lets nobody fire another’s hook with a secret of their own', async () => {
    const victim = await desk.hook(onPath('shared-path'));
    const intruder = await desk.test.register('intruder');
    const planted = await desk.test.call('POST', '/api/hooks', {
      token: intruder.token,
      body: {
        name: 'planted',
        trigger: 'webhook',
        triggerConfig: { webhookPath: 'shared-path', webhookSecret: 'planted' },
        action: 'notify',
        actionConfig: { notifyMessage: 'seen: {{webhook.body}}' },
      },
    });
    const { body } = await desk.deliver('shared-path', '{"n":1}', { secret: 'planted' });
    expect(body.hooks).to.equal(1);
    expect(await desk.runs(victim)).to.equal([]);

    expect((await desk.deliver('shared-path', '{"n":2}')).body.hooks).to.equal(1);
    const path = `/api/hooks/${planted.body.id}/executions`;
    const seen = await desk.test.call('GET', path, { token: intruder.token });
    expect(seen.body.executions).to.have.length(1);
    expect(seen.body.executions[0].triggerContext.webhook.body).to.equal({ n: 1 });
  });

  it('fires an enabled hook beside a disabled one', async () => {
    const off = await desk.hook({ ...onPath('half'), enabled: false });
    const on = await desk.hook(onPath('half'));
    const { status, body } = await desk.deliver('half', '{"n":1}');
    expect([status, body.hooks]).to.equal([202, 1]);
    expect(await desk.ended(on)).to.have.length(1);
    expect(await desk.runs(off)).to.equal([]);
  });

  it('answers 200 and keeps nothing where all verified hooks are disabled', async () => {
    const id = await desk.hook(onPath('off'));
    await desk.ask('POST', `/api/hooks/${id}/disable`);
    const { status, body } = await desk.deliver('off', '{"n":1}');
    expect(status).to.equal(200);
    expect(body).to.equal({ received: true, accepted: false, hooks: 0 });
    await desk.ask('POST', `/api/hooks/${id}/enable`);
    expect((await desk.deliver('off', '{"n":2}')).status).to.equal(202);
    expect(await desk.ended(id)).to.have.length(1);
  });

  it('answers 401 where no signature is right', async () => {
    await desk.hook(onPath('signed'));
    const body = '{"n":1}';
    const right = sign(SECRET, body);
    const last = right.endsWith('0') ? '1' : '0';
    const signatures: Record<string, string>[] = [
      {},
      { 'x-hub-signature-256': '' },
      { 'x-hub-signature-256': right.slice('sha256='.length) },
      { 'x-hub-signature-256': `${right}zz` },
      { 'x-hub-signature-256': `${right.slice(0, -1)}${last}` },
      { 'x-hub-signature-256': sign('', body) },
      { 'x-hub-signature-256': sign(SECRET, '{"n":2}') },
      { 'x-hub-signature': right },
    ];
    for (const headers of signatures) {
      const reply = await desk.test.call('POST', '/api/webhooks/signed', { body, headers });
      expect(reply.status).to.equal(401);
      expect(without(reply.body)).to.equal(UNSIGNED);
    }
    const upper = `sha256=${right.slice('sha256='.length).toUpperCase()}`;
    const reply = await desk.deliver('signed', body, { headers: { 'x-hub-signature-256': upper } });
    expect(reply.status).to.equal(202);
  });

  it('answers 401 where no hook on the path has a secret', async () => {
    for (const webhookSecret of [undefined, '', '   ']) {
      const path = 'secretless';
      const triggerConfig = {
        webhookPath: path,
        ...(webhookSecret !== undefined && { webhookSecret }),
      };
      const { body } = await desk.ask('GET', `/api/hooks/${await desk.hook({ triggerConfig })}`);
      expect(body.triggerConfig).to.equal({ webhookPath: path, webhookSecretSet: false });
      for (const secret of ['', '   ', SECRET]) {
        const reply = await desk.deliver(path, '{"n":1}', { secret });
        expect(without(reply.body)).to.equal(UNSIGNED);
      }
    }
  });

  it('answers 404 for an unknown path, signed or not', async () => {
    expect(without((await desk.deliver('nowhere', '{}')).body)).to.equal(UNKNOWN);
    const unsigned = await desk.test.call('POST', '/api/webhooks/nowhere', { body: '{}' });
    expect(without(unsigned.body)).to.equal(UNKNOWN);
  });

  it('answers 400 for a signed body that is no JSON object or array', async () => {
    const id = await desk.hook(onPath('json'));
    const invalid = 'The body is not valid JSON';
    const other = 'The JSON must be an object or an array';
    const bodies: [string, string][] = [
      ['Hello, World!', invalid],
      ['', 'The body is empty'],
      ['null', other],
      ['5', other],
      ['"x"', other],
      ['{"n":1', invalid],
      ['{} {}', invalid],
      ['{"a":1,}', invalid],
      ['['.repeat(65), 'The JSON is nested more than 64 levels deep'],
    ];
    for (const [body, message] of bodies) {
      const reply = await desk.deliver('json', body);
      expect(without(reply.body)).to.equal(refusal(400, 'Bad Request', message));
    }
    expect(await desk.runs(id)).to.equal([]);
    expect((await desk.deliver('json', '[]')).status).to.equal(202);
  });

  it('answers 415 for a type other than JSON, whatever the signature', async () => {
    await desk.hook(onPath('types'));
    const statusOf = async (type: string | null) =>
      (await desk.deliver('types', '{"n":1}', { type })).status;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      expect(await statusOf(type)).to.equal(415);
    }
    for (const type of [
      'application/json; charset=utf-8',
      'application/vnd.x+json',
      'APPLICATION/JSON',
    ]) {
      expect(await statusOf(type)).to.equal(202);
    }
  });

  it('answers 413 over 4 MiB and takes a body of exactly that', async () => {
    const id = await desk.hook(onPath('large'));
    const most = 4 * 1024 * 1024;
    const filled = (bytes: number) => `{"n":"${'x'.repeat(bytes - 8)}"}`;
    expect((await desk.deliver('large', filled(most + 1))).status).to.equal(413);
    expect(await desk.runs(id)).to.equal([]);
    expect((await desk.deliver('large', filled(most))).status).to.equal(202);
    await desk.ended(id);
  });

  it('answers 503, never 2xx, where the disk is full', async () => {
    const id = await desk.hook(onPath('full'));
    const limitPages = (pages: number) =>
      desk.test.app.store.transact([{ sql: `PRAGMA max_page_count = ${pages}`, parameters: [] }]);
    await limitPages(1);
    const { status, headers, body } = await desk.deliver('full', `{"n":"${'x'.repeat(500_000)}"}`);
    await limitPages(1_000_000);
    expect([status, headers['retry-after'], body.code]).to.equal([503, '5', 'storage_unavailable']);
    expect(await desk.runs(id)).to.equal([]);
    expect((await desk.deliver('full', '{"n":1}')).status).to.equal(202);
  });
});
