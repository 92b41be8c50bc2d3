import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Webhook } from 'standardwebhooks';
import { type FrozenClock, frozenClock, until } from '../harness/app.js';
import type { Received } from '../harness/target.js';
import { openStage, SECRET, type Stage } from '../outbound/webhooks/stage.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const MINUTE = 60_000;
const OTHER = `whsec_${Buffer.alloc(24, 'another').toString('base64')}`;

describe('what a webhook is sent', () => {
  let stage: Stage;
  let clock: FrozenClock;
  before(async () => {
    clock = frozenClock(Date.now());
    stage = await openStage(clock);
  });
  // The library knows no clock but the true one.
  beforeEach(() => clock.forward(Date.now() - clock.now()));
  afterEach(() => stage.clear());
  after(() => stage.stop());

  const show = async (id: string) => (await stage.ask('GET', `/api/webhooks/${id}`)).body;

  it('is what Standard Webhooks prescribes, as its library says', async () => {
    await stage.webhook({ events: ['hook.executed'] });
    const at = new Date(clock.now()).toISOString();
    const executionId = await stage.fire();
    const [received] = await stage.target.got(1);
    const hookId = (await stage.ask('GET', '/api/hooks')).body.hooks[0].id;
    expect(verified(SECRET, received)).to.equal({
      type: 'hook.executed',
      timestamp: at,
      data: {
        executionId,
        hookId,
        hookName: 'issues',
        trigger: 'webhook',
        action: 'notify',
        event: null,
        agentId: null,
        status: 'success',
        result: `{"message":"Got ${stage.fired()}"}`,
        links: {
          hook: `/api/hooks/${hookId}`,
          execution: `/api/hooks/${hookId}/executions/${executionId}`,
        },
      },
    });
  });

  it('carries its id, its time and its signature in headers', async () => {
    await stage.webhook();
    await stage.fire();
    const [received] = await stage.target.got(1);
    expect(received?.method).to.equal('POST');
    expect(received?.headers['content-type']).to.equal('application/json');
    expect(received?.headers['user-agent']).to.equal('adjutant');
    expect(received?.headers['webhook-timestamp']).to.equal(`${Math.floor(clock.now() / 1000)}`);
    expect(received?.headers['webhook-signature']).to.match(/^v1,[A-Za-z0-9+/]{43}=$/);
  });

  it('is on record with what was answered', async () => {
    const { id } = await stage.webhook();
    const at = new Date(clock.now()).toISOString();
    await stage.fire();
    const [received] = await stage.target.got(1);
    const { attempts, ...sent } = await until(
      async () => (await stage.deliveries(id))[0],
      (found) => found?.status === 'sent',
    );
    expect(sent).to.equal({
      id: sent.id,
      webhookId: received?.headers['webhook-id'],
      event: 'hook.executed',
      status: 'sent',
      payload: JSON.parse(received?.body ?? ''),
      nextAttemptAt: null,
      error: null,
      createdAt: at,
      finishedAt: at,
    });
    expect(attempts).to.equal([
      { number: 1, at, durationMs: 0, statusCode: 200, response: 'fine', error: null },
    ]);
    expect((await show(id)).stats).to.equal({
      ...{ waiting: 0, sent: 1, failed: 0 },
      ...{ lastDeliveryAt: at, lastStatus: 'sent', failingSince: null },
    });
  });

  it('verifies with the old key, with both and with the new one as a rotation goes by', async () => {
    const { id } = await stage.webhook();
    await stage.fire();
    const rotate = `/api/webhooks/${id}/rotate-secret`;
    await stage.target.got(1);
    const { body } = await stage.ask('POST', rotate, { overlapMinutes: 1 });
    await stage.fire();
    await stage.target.got(2);
    clock.forward(MINUTE);
    await stage.fire();
    const received = await stage.target.got(3);
    expect(received.map((one) => isVerified(SECRET, one))).to.equal([true, true, false]);
    expect(received.map((one) => isVerified(body.secret, one))).to.equal([false, true, true]);
    expect(body.oldSecretUntil).to.equal((await show(id)).oldSecretUntil);
    const given = await stage.ask('POST', rotate, { overlapMinutes: 0, secret: OTHER });
    expect(given.body).to.equal({ oldSecretUntil: null });
    await stage.fire();
    const [, , , last] = await stage.target.got(4);
    expect([body.secret, OTHER].map((one) => isVerified(one, last))).to.equal([false, true]);
  });

  it('verifies with every key whose overlap has not ended, where rotations follow fast', async () => {
    const { id } = await stage.webhook();
    const rotate = async (overlapMinutes: number) =>
      (await stage.ask('POST', `/api/webhooks/${id}/rotate-secret`, { overlapMinutes })).body;
    const first = await rotate(3);
    const second = await rotate(1);
    expect(second.oldSecretUntil).to.equal(first.oldSecretUntil);
    const secrets = [SECRET, first.secret, second.secret];
    const verifiers = async (count: number) => {
      await stage.fire();
      const last = (await stage.target.got(count)).at(-1);
      return secrets.map((secret) => isVerified(secret, last));
    };
    expect(await verifiers(1)).to.equal([true, true, true]);
    clock.forward(MINUTE);
    expect(await verifiers(2)).to.equal([true, false, true]);
    clock.forward(2 * MINUTE);
    expect(await verifiers(3)).to.equal([false, false, true]);
    secrets.push((await rotate(1)).secret);
    secrets.push((await rotate(0)).secret);
    expect(await verifiers(4)).to.equal([false, false, false, false, true]);
    expect((await show(id)).oldSecretUntil).to.be.null();
  });

  it('carries five signatures at most, over a restart too', async () => {
    const { id } = await stage.webhook();
    const rotate = () => stage.ask('POST', `/api/webhooks/${id}/rotate-secret`, {});
    for (let n = 0; n < 6; n++) await rotate();
    await stage.test.restart();
    await stage.fire();
    const [received] = await stage.target.got(1);
    const signatures = `${received?.headers['webhook-signature']}`.split(' ');
    expect(signatures.filter((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one)).length).to.equal(5);
  });

  it('knows a secret of before that was sealed alone', async () => {
    const { id } = await stage.webhook();
    const { db } = stage.test.app.store;
    const webhooks = db.selectFrom('webhooks').select('secret_sealed').where('id', '=', id);
    const alone = await webhooks.executeTakeFirstOrThrow();
    const { secret } = (await stage.ask('POST', `/api/webhooks/${id}/rotate-secret`, {})).body;
    await db
      .updateTable('webhooks')
      .set({ old_secret_sealed: alone.secret_sealed })
      .where('id', '=', id)
      .execute();
    await stage.fire();
    const [received] = await stage.target.got(1);
    expect([SECRET, secret].map((one) => isVerified(one, received))).to.equal([true, true]);
  });

  it('is signed with both values of a vault entry while its rotation overlaps', async () => {
    const given = { name: 'signing', type: 'webhook_secret', value: SECRET };
    const credential = (await stage.ask('POST', '/api/vault', given)).body.id;
    const body = { name: 'app', url: stage.target.url, events: ['*'], credentialId: credential };
    const made = await stage.ask('POST', '/api/webhooks', body);
    expect(made.body).to.include({ credentialId: credential, secretSet: true });
    expect(made.body).to.not.include('secret');
    await stage.fire();
    await stage.target.got(1);
    const path = `/api/vault/${credential}`;
    const rotation = { value: OTHER, overlapMinutes: 1 };
    expect((await stage.ask('POST', `${path}/rotate`, rotation)).status).to.equal(200);
    await stage.fire();
    await stage.target.got(2);
    clock.forward(MINUTE);
    await stage.fire();
    const received = await stage.target.got(3);
    expect(received.map((one) => isVerified(SECRET, one))).to.equal([true, true, false]);
    expect(received.map((one) => isVerified(OTHER, one))).to.equal([false, true, true]);
    const own = await stage.ask('POST', `/api/webhooks/${made.body.id}/rotate-secret`, {});
    expect([own.status, own.body.code]).to.equal([409, 'secret_in_vault']);
    expect((await stage.ask('DELETE', path)).body.code).to.equal('credential_in_use');
  });
});

const headersOf = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`]));

/** What the library makes of it; throws where the signature is not of that secret. */
const verified = (secret: string, received: Received | undefined): unknown => {
  if (!received) throw new Error('Nothing was received');
  return new Webhook(secret).verify(received.body, headersOf(received));
};

const isVerified = (secret: string, received: Received | undefined): boolean => {
  try {
    return verified(secret, received) !== undefined;
  } catch {
    return false;
  }
};
