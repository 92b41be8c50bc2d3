import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

let target: Target;
let clock: FrozenClock;
let desk: Desk;
before(async () => {
  target = await openTarget();
  clock = frozenClock();
  desk = await openDesk({ clock, config: { egressAllow: [target.address] } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});
beforeEach(() => {
  target.received = [];
  target.answer = (response) => response.end('fine');
});

const forward = (path: string, more: object = {}) =>
  desk.hook({
    ...onPath(path),
    action: 'webhook',
    actionConfig: { webhookUrl: `${target.url}/sink`, ...more },
  });
const firstRun = async (id: string) => (await desk.ended(id))[0];

const VALUE = 'token-that-nobody-else-may-see';
const credential = async (allowedHosts: string[]): Promise<string> => {
  const name = `target-${allowedHosts.length}-${Math.random().toString(36).slice(2)}`;
  const body = { name, value: VALUE, type: 'api_key', allowedHosts };
  const reply = await desk.ask('POST', '/api/vault', body);
  expect(reply.status, reply.text).to.equal(201);
  return reply.body.id;
};

/** Lets the time until the next try pass. */
const pass = async (id: string, error: string, ms = 60_000) => {
  const [run] = await until(
    () => desk.runs(id),
    ([found]) => found.error?.startsWith(error),
  );
  expect(run.status).to.equal('running');
  clock.forward(ms);
  inside(desk.test.app).queue.added(id, 0);
};

describe('a forward', () => {
  it('hands on the payload as it came, with an id and the event', async () => {
    const id = await forward('plain');
    const body = ' { "n": 1.0 }\n';
    await desk.deliver('plain', body, { headers: { 'x-github-event': 'push' } });
    const run = await firstRun(id);
    expect(run).to.include({ status: 'success', attempts: 1, error: null });
    expect(run.result).to.equal({ status: 200, body: 'fine' });
    const [received] = target.received;
    expect(received).to.include({ method: 'POST', path: '/sink', body });
    expect(received?.headers).to.include({
      'content-type': 'application/json',
      'webhook-id': run.id,
      'x-adjutant-event': 'push',
    });
    expect(received?.headers['x-hub-signature-256']).to.be.undefined();
  });

  it('sends its credential as a bearer token, and keeps no trace of it', async () => {
    const credentialId = await credential([target.address]);
    const id = await forward('authorized', { credentialId });
    target.answer = (response) => response.end(`you sent ${VALUE}`);
    await desk.deliver('authorized', '{}');
    const run = await firstRun(id);
    expect(target.received[0]?.headers.authorization).to.equal(`Bearer ${VALUE}`);
    expect(run.result).to.equal({ status: 200, body: 'you sent [secret]' });
    const seen = await desk.ask('GET', `/api/hooks/${id}`);
    const dry = await desk.ask('POST', `/api/hooks/${id}/test`, { dryRun: true, payload: {} });
    expect(dry.text).to.include('Bearer [secret]');
    expect(seen.text + dry.text).not.to.include(VALUE);
    const used = await desk.ask('GET', '/api/vault');
    const own = used.body.credentials.find((each: { id: string }) => each.id === credentialId);
    expect(own.lastUsedAt).not.to.be.null();
  });

  it('sends its credential to allowed hosts alone', async () => {
    const id = await forward('elsewhere', { credentialId: await credential(['api.example']) });
    await desk.deliver('elsewhere', '{}');
    const run = await firstRun(id);
    expect([run.status, target.received]).to.equal(['error', []]);
    expect(run.error).to.include(
      `may not be sent to ${target.address}. Add the host to its allowedHosts`,
    );
  });

  it('is refused with a credential that is not one’s own, or could not be used', async () => {
    const credentialId = await credential([]);
    const refusal = async (action: string, actionConfig: object): Promise<string> => {
      const body = {
        name: 'refused',
        trigger: 'webhook',
        ...onPath('refused'),
        action,
        actionConfig,
      };
      const reply = await desk.ask('POST', '/api/hooks', body);
      expect([reply.status, reply.body.details[0].path]).to.equal([
        400,
        'actionConfig.credentialId',
      ]);
      return reply.body.details[0].message;
    };
    const webhookUrl = `${target.url}/sink`;
    expect(
      await refusal('webhook', { webhookUrl, credentialId: 'credential_of_another' }),
    ).to.equal('must be the ID of one of your credentials');
    expect(
      await refusal('webhook', {
        webhookUrl,
        credentialId,
        webhookHeaders: { Authorization: 'x' },
      }),
    ).to.startWith('cannot be combined with an Authorization header');
    expect(await refusal('notify', { notifyMessage: 'm', credentialId })).to.startWith(
      'is only for the action webhook',
    );
  });

  it('renders body and headers, safely for JSON and for HTTP', async () => {
    const id = await forward('rendered', {
      webhookMethod: 'PUT',
      webhookHeaders: { 'X-Title': '{{webhook.body.t}}', 'Content-Length': '1', 'webhook-id': 'x' },
      webhookBody: '{"text":"{{webhook.body.t}}","all":{{webhook.body}}}',
    });
    const t = 'a "b"\r\nX-Injected: yes\n{{event}}';
    await desk.deliver('rendered', JSON.stringify({ t }));
    const run = await firstRun(id);
    expect(run.status).to.equal('success');
    const [received] = target.received;
    expect(received?.method).to.equal('PUT');
    expect(JSON.parse(received?.body ?? '')).to.equal({ text: t, all: { t } });
    expect(received?.headers).to.include({
      'x-title': 'a "b"X-Injected: yes{{event}}',
      'webhook-id': run.id,
    });
    expect(received?.headers['x-injected']).to.be.undefined();
  });

  it('renders another type of body as it is, and sends none with GET', async () => {
    const text = await forward('text', {
      webhookHeaders: { 'content-type': 'text/plain' },
      webhookBody: 'say "{{webhook.body.t}}"',
    });
    await desk.deliver('text', '{"t":"\\"x\\""}');
    await firstRun(text);
    const get = await forward('get', { webhookMethod: 'GET' });
    await desk.deliver('get', '{"t":1}');
    await firstRun(get);
    const bodies = target.received.map(({ method, body }) => [method, body]);
    expect(bodies).to.equal([
      ['POST', 'say ""x""'],
      ['GET', ''],
    ]);
  });

  it('is tried again after 5xx, 429 and a cut connection, under the same id', async () => {
    target.answer = (response, nth) => {
      if (nth === 1) response.writeHead(503).end();
      else if (nth === 2) response.destroy();
      else response.end('at last');
    };
    const id = await forward('retried');
    await desk.deliver('retried', '{"n":1}');
    await pass(id, 'The target replied with status 503; attempt 2 at 2026-');
    await pass(id, '127.0.0.1: the connection was interrupted; attempt 3 at 2026-');
    const run = await firstRun(id);
    expect(run).to.include({ status: 'success', attempts: 3, error: null });
    expect(run.result).to.equal({ status: 200, body: 'at last' });
    const ids = target.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.equal([run.id, run.id, run.id]);
  });

  it('waits as long as Retry-After asks', async () => {
    target.answer = (response, nth) =>
      nth === 1 ? response.writeHead(429, { 'retry-after': '300' }).end() : response.end('fine');
    const id = await forward('patient');
    await desk.deliver('patient', '{"n":1}');
    await pass(id, 'The target replied with status 429', 299_000);
    expect(target.received).to.have.length(1);
    await pass(id, 'The target replied with status 429', 2_000);
    expect((await firstRun(id)).status).to.equal('success');
  });

  it('gives up after three tries, and a repeat does not run it again', async () => {
    target.answer = (response) => response.writeHead(500).end('broken');
    const headers = { 'webhook-id': 'd-1' };
    const id = await forward('hopeless');
    await desk.deliver('hopeless', '{"n":1}', { headers });
    await pass(id, 'The target replied with status 500; attempt 2');
    await pass(id, 'The target replied with status 500; attempt 3');
    const run = await firstRun(id);
    expect(run).to.include({
      status: 'error',
      error: 'The target replied with status 500',
      attempts: 3,
    });
    expect(target.received).to.have.length(3);
    expect((await desk.deliver('hopeless', '{"n":1}', { headers })).body.duplicate).to.be.true();
  });

  it('is not tried again after 4xx', async () => {
    target.answer = (response) => response.writeHead(422).end();
    const id = await forward('refused');
    await desk.deliver('refused', '{"n":1}');
    expect(await firstRun(id)).to.include({
      status: 'error',
      error: 'The target replied with status 422',
    });
    expect(target.received).to.have.length(1);
  });

  it('takes its body to no other host, and says what to do', async () => {
    const other = await openTarget();
    target.answer = (response) => response.writeHead(308, { location: `${other.url}/sink` }).end();
    await desk.test.restart({ egressAllow: [target.address, other.address] });
    const id = await forward('moved');
    await desk.deliver('moved', '{"n":1}');
    expect(await firstRun(id)).to.include({
      status: 'error',
      attempts: 1,
      error: `The target replied with status 308, a redirect to ${other.url}. Requests with a body are not redirected to another host, or as GET without the body. Set webhookUrl to the final address`,
    });
    expect(other.received).to.equal([]);
    other.close();
  });

  it('that reached nobody runs again with a repeat of its delivery', async () => {
    const gone = await openTarget();
    gone.close();
    await desk.test.restart({ egressAllow: [target.address, gone.address] });
    const headers = { 'webhook-id': 'd-2' };
    const id = await forward('unreached', { webhookUrl: gone.url });
    await desk.deliver('unreached', '{"n":1}', { headers });
    const refused = '127.0.0.1: the connection was refused';
    await pass(id, `${refused}; attempt 2`);
    await pass(id, `${refused}; attempt 3`);
    expect(await firstRun(id)).to.include({ status: 'error', error: refused });

    await desk.ask('PUT', `/api/hooks/${id}`, { actionConfig: { webhookUrl: target.url } });
    expect((await desk.deliver('unreached', '{"n":1}', { headers })).status).to.equal(202);
    expect((await desk.ended(id, 2))[0].status).to.equal('success');
  });

  it('is refused at its time where its target is private and not allowed any more', async () => {
    const id = await forward('forbidden');
    await desk.test.restart({ egressAllow: [] });
    await desk.deliver('forbidden', '{"n":1}');
    const run = await firstRun(id);
    expect(run).to.include({ status: 'error', attempts: 1 });
    expect(run.error).to.contain('egressAllow');
    expect(target.received).to.equal([]);
  });
});
