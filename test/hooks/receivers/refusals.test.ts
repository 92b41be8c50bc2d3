import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign } from '../../harness/app.js';
import { type Desk, notice, onPath, openDesk, SECRET } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
beforeEach(() => desk.arrive());
after(() => desk.test.stop());

const refusedOf = async (id: string) => (await desk.ask('GET', `/api/hooks/${id}/refused`)).body;
const reasonsOf = async (id: string): Promise<string[]> =>
  (await refusedOf(id)).refused.map(({ reason }: { reason: string }) => reason);

/** Sends a request as it stands, and expects the status. */
const send = async (
  path: string,
  { body = '{}', ...headers }: Record<string, string>,
  status: number,
): Promise<void> => {
  const reply = await desk.test.call('POST', path, { body, type: null, headers });
  expect(reply.status).to.equal(status);
};
const JSON_TYPE = { 'content-type': 'application/json' };
const signed = (body = '{}') => ({ 'x-hub-signature-256': sign(SECRET, body) });

describe('the refused deliveries of a hook', () => {
  it('are named with why, and with names of headers alone', async () => {
    const id = await desk.hook(onPath('why', SECRET));
    const path = '/api/webhooks/why';
    await send(path, { ...JSON_TYPE }, 401);
    await send(path, { ...JSON_TYPE, 'x-hub-signature-256': sign('another one', '{}') }, 401);
    await send(path, { ...signed(), 'content-type': 'image/png' }, 415);
    await send(path, { ...JSON_TYPE, ...signed('no json'), body: 'no json' }, 400);
    await send(`${path}?token=t0ps3cret`, { ...JSON_TYPE, ...signed() }, 400);
    await send(`/api/hooks/incoming/${id}`, { ...JSON_TYPE, 'x-webhook-secret': 't0ps3cret' }, 401);
    await send(`/api/hooks/incoming/${id}`, { ...JSON_TYPE, 'x-other': 'no secret' }, 401);
    const found = await refusedOf(id);
    expect(found.count).to.equal(7);
    expect(found.refused.map(({ reason }: { reason: string }) => reason)).to.equal([
      ...['unsigned', 'mismatch', 'secret_in_query', 'not_json', 'content_type'],
      ...['mismatch', 'unsigned'],
    ]);
    expect(found.refused[4]).to.include({
      message:
        "This hook accepts application/json, but the request has image/png. Set an accepted content type at the sender (curl: -H 'Content-Type: application/json')",
      contentType: 'image/png',
      headers: ['x-hub-signature-256'],
    });
    expect(JSON.stringify(found)).to.not.contain('t0ps3cret');
  });

  it('tell a late one from a forged one, as its sender signs', async () => {
    const verify = {
      ...{ header: 'x-signature', timestampHeader: 'x-time', signed: '{timestamp}.{body}' },
      ...{ algorithm: 'sha256', encoding: 'hex' },
    };
    const triggerConfig = { webhookPath: 'timed', webhookSecret: SECRET, verify };
    const id = await desk.hook({ triggerConfig });
    const now = Math.floor(Date.now() / 1000);
    const from = (time: number) => ({ 'x-signature': 'ab'.repeat(32), 'x-time': String(time) });
    await send('/api/webhooks/timed', { ...JSON_TYPE, ...from(now) }, 401);
    await send('/api/webhooks/timed', { ...JSON_TYPE, ...from(now - 3600) }, 401);
    await send('/api/webhooks/timed', { ...JSON_TYPE, 'x-time': String(now) }, 401);
    expect(await reasonsOf(id)).to.equal(['unsigned', 'not_now', 'mismatch']);
    const [{ message, headers }] = (await refusedOf(id)).refused;
    expect(message).to.equal('The signature header x-signature is missing');
    expect(headers).to.equal([]);
  });

  it('tell of a hook without a secret, and of a disabled one', async () => {
    const bare = await desk.hook({ triggerConfig: { webhookPath: 'bare' } });
    await send('/api/webhooks/bare', { ...JSON_TYPE, ...signed() }, 401);
    expect(await reasonsOf(bare)).to.equal(['no_secret']);
    const off = await desk.hook({ ...onPath('off', SECRET), enabled: false });
    await send('/api/webhooks/off', { ...JSON_TYPE, ...signed() }, 200);
    expect(await reasonsOf(off)).to.equal(['disabled']);
  });

  it('hold none that was kept, and the newest twenty of many', async () => {
    const id = await desk.hook(onPath('many', SECRET));
    expect((await desk.deliver('many', '{"n":1}')).status).to.equal(202);
    expect(await refusedOf(id)).to.include({ count: 0, refused: [] });
    for (let n = 0; n < 25; n++) await send('/api/webhooks/many', JSON_TYPE, 401);
    const { count, refused } = await refusedOf(id);
    expect([count, refused.length]).to.equal([25, 20]);
  });

  it('hold of names that a stranger chose a few, and no long ones', async () => {
    const id = await desk.hook(onPath('names', SECRET));
    const named = (n: number, more: string) => [`x-secret-${n}${more}`, 'v'];
    const names = Array.from({ length: 30 }, (_, n) => named(n, n < 15 ? 'y'.repeat(300) : ''));
    await send('/api/webhooks/names', { ...JSON_TYPE, ...Object.fromEntries(names) }, 401);
    const [{ headers }] = (await refusedOf(id)).refused;
    expect(headers).to.equal(Array.from({ length: 10 }, (_, n) => `x-secret-${n + 15}`));
  });

  it('hold no secret of any hook on the path, in whatever place', async () => {
    const id = await desk.hook(onPath('shown', 'sesame-sesame'));
    const other = await desk.hook({ name: 'other', ...onPath('shown', 'another-one') });
    const type = { 'content-type': 'text/sesame-sesame', 'x-token-another-one': 'v' };
    await send('/api/webhooks/shown', type, 401);
    for (const each of [id, other]) {
      const [{ contentType, headers }] = (await refusedOf(each)).refused;
      expect([contentType, headers]).to.equal([null, []]);
    }
  });

  it('are told to those whose hooks verified them, and say nothing of the others', async () => {
    const mine = await desk.hook({ ...onPath('ours', SECRET), enabled: false });
    const { token } = await desk.test.register('bob');
    const body = notice(onPath('ours', 'the secret of Bob'));
    const { id } = (await desk.test.call('POST', '/api/hooks', { token, body })).body;
    await send('/api/webhooks/ours', { ...JSON_TYPE, ...signed() }, 200);
    expect(await reasonsOf(mine)).to.equal(['disabled']);
    const reply = await desk.test.call('GET', `/api/hooks/${id}/refused`, { token });
    expect(reply.body.count).to.equal(0);
    await send('/api/webhooks/ours', { ...JSON_TYPE, ...signed('no json'), body: 'no json' }, 400);
    expect(await reasonsOf(mine)).to.equal(['not_json', 'disabled']);
  });

  it('tell a late one by the time in its body', async () => {
    const triggerConfig = { webhookPath: 'linear', webhookSecret: SECRET, verify: 'linear' };
    const id = await desk.hook({ triggerConfig });
    const body = JSON.stringify({ webhookTimestamp: Date.now() - 3600_000 });
    await send('/api/webhooks/linear', { ...JSON_TYPE, body, 'linear-signature': 'ab' }, 401);
    expect(await reasonsOf(id)).to.equal(['not_now']);
  });
});
