import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const MINUTE = 60_000;

describe('a credential that changes while it is used', () => {
  let clock: FrozenClock;
  let desk: Desk;
  let target: Target;
  let other: Target;
  before(async () => {
    clock = frozenClock();
    [target, other] = [await openTarget(), await openTarget()];
    const egressAllow = [target.address, other.address];
    desk = await openDesk({ clock, config: { egressAllow, tokenHours: 720 } });
  });
  after(async () => {
    await desk.test.stop();
    for (const one of [target, other]) one.close();
  });
  beforeEach(() => {
    for (const one of [target, other]) one.received = [];
  });

  const store = async (name: string, more: object = {}): Promise<string> => {
    const given = { name, value: `value of ${name}`, allowedHosts: [target.address], ...more };
    return (await desk.ask('POST', '/api/vault', given)).body.id;
  };
  const forwardWith = (path: string, credentialId: string) =>
    desk.hook({
      ...{ name: path, ...onPath(path), action: 'webhook' },
      actionConfig: { webhookUrl: `${target.url}/sink`, credentialId },
    });
  const shown = (one: Target) => one.received.map(({ headers }) => headers.authorization);
  /** The first attempt fails; `meanwhile` happens before the second. */
  const between = async (path: string, id: string, meanwhile: () => Promise<unknown>) => {
    target.answer = (response, nth) => response.writeHead(nth === 1 ? 503 : 200).end();
    await desk.deliver(path, '{}');
    await until(
      () => desk.runs(id),
      ([run]) => run?.error?.startsWith('The target replied with status 503'),
    );
    await meanwhile();
    clock.forward(MINUTE);
    inside(desk.test.app).queue.added(id, 0);
    return (await desk.ended(id))[0];
  };

  it('is sent in its newest value by the next attempt of a forward', async () => {
    const credential = await store('turned');
    const id = await forwardWith('turned', credential);
    const run = await between('turned', id, () =>
      desk.ask('POST', `/api/vault/${credential}/rotate`, { value: 'newer' }),
    );
    expect([run.status, shown(target)]).to.equal([
      'success',
      ['Bearer value of turned', 'Bearer newer'],
    ]);
  });

  for (const [what, change, error] of [
    [
      'expired',
      { expiresAt: new Date(Date.parse('2020-01-01')).toISOString() },
      'The credential of this forward has expired. Rotate the credential',
    ],
    [
      'lent to another host',
      { allowedHosts: ['api.example.org'] },
      /^The credential \S+ may not be sent to 127\.0\.0\.1:\d+\. Add the host to its allowedHosts$/,
    ],
  ] as const) {
    it(`is sent no more once it is ${what}, by no further attempt`, async () => {
      const name = `ended-${what.length}`;
      const credential = await store(name);
      const id = await forwardWith(name, credential);
      const run = await between(name, id, () =>
        desk.ask('PATCH', `/api/vault/${credential}`, change),
      );
      expect([run.status, shown(target)]).to.equal(['error', [`Bearer value of ${name}`]]);
      expect(run.error).to.match(typeof error === 'string' ? new RegExp(`^${error}$`) : error);
    });
  }

  it('goes along with a redirect to its host, and to no other', async () => {
    const id = await forwardWith('led', await store('led'));
    target.answer = (response, nth) =>
      nth === 1
        ? response.writeHead(307, { location: '/elsewhere' }).end()
        : response.writeHead(307, { location: `${other.url}/far` }).end();
    await desk.deliver('led', '{}');
    const [run] = await desk.ended(id);
    expect(run.status).to.equal('error');
    expect(String(run.error)).to.startWith(
      `The target replied with status 307, a redirect to ${other.url}. `,
    );
    expect(target.received.map(({ path }) => path)).to.equal(['/sink', '/elsewhere']);
    expect(shown(target)).to.equal(['Bearer value of led', 'Bearer value of led']);
    expect(other.received).to.equal([]);
  });

  it('signs nothing once it has expired, and all that waited once it is renewed', async () => {
    const value = `whsec_${Buffer.alloc(24, 'a key').toString('base64')}`;
    const credentialId = await store('signs', { value, type: 'webhook_secret' });
    const webhook = { name: 'app', url: `${other.url}/app`, events: ['hook.executed'] };
    const made = (await desk.ask('POST', '/api/webhooks', { ...webhook, credentialId })).body;
    const expiresAt = new Date(clock.now()).toISOString();
    await desk.ask('PATCH', `/api/vault/${credentialId}`, { expiresAt });
    await desk.hook({ name: 'fires', ...onPath('fires') });
    await desk.deliver('fires', '{"n":1}');
    const deliveries = async () =>
      (await desk.ask('GET', `/api/webhooks/${made.id}/deliveries`)).body.deliveries;
    const [waiting] = await until(deliveries, ([first]) => typeof first?.error === 'string');
    expect(waiting.error).to.equal(
      'The vault credential of the webhook has expired. Rotate the credential',
    );
    expect(other.received).to.equal([]);
    await desk.ask('POST', `/api/vault/${credentialId}/rotate`, { generate: true });
    clock.forward(MINUTE);
    await desk.test.restart();
    const [received] = await other.got(1);
    expect(received?.headers['webhook-signature']).to.match(/^v1,\S{44}$/);
  });
});
