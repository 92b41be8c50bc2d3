import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, type Reply, until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { afterEach, describe, it } = lab;

const HOUR = 3600_000;
const EVENTS = 12;
/** Of one endpoint that has answered well. */
const AT_ONCE = 4;
const GONE = '410: the endpoint is gone';
const DISABLED = 'The webhook is disabled. Enable the webhook, then resend this message';
const SUSPENDED = 'the owner or the target is disabled';

describe('a burst to a webhook', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => openStage(clock));
  /** Answers what has come and what comes. */
  let release: (status: number) => void;
  afterEach(async () => {
    await stage.clear();
    await stage.test.app.store.db.deleteFrom('notifications').execute();
  });

  /** A webhook that has answered well, a burst for it, and its first few under way. */
  const underWay = async (): Promise<string> => {
    const { id } = await stage.webhook();
    await stage.fire();
    await ended(id, 1);
    const held: ((status: number) => void)[] = [];
    stage.target.answer = (response) => held.push((status) => response.writeHead(status).end());
    release = (status) => {
      stage.target.answer = (response) => response.writeHead(status).end();
      for (const answered of held.splice(0)) answered(status);
    };
    for (let n = 0; n < EVENTS; n++) await stage.fire();
    await stage.target.got(1 + AT_ONCE);
    await until(
      () => deliveries(id),
      ({ length }) => length === 1 + EVENTS,
    );
    return id;
  };
  const deliveries = (id: string) => stage.deliveries(id, '?limit=200');
  const ended = (id: string, count: number) =>
    until(
      () => deliveries(id),
      (all) => all.length === count && all.every(({ finishedAt }) => finishedAt !== null),
    );
  const errorsOf = (all: Reply['body'][]) => [...new Set(all.map(({ error }) => error))];
  const notices = async (kind: string): Promise<number> =>
    (await stage.ask('GET', `/api/notifications?kind=${kind}`)).body.notifications.length;
  const patch = (id: string, changes: object) => stage.ask('PATCH', `/api/webhooks/${id}`, changes);
  const idle = () =>
    until(
      () => stage.test.app.store.db.selectFrom('jobs').select('ref').execute(),
      ({ length }) => length === 0,
    );

  it('ends where the endpoint says in its middle that it is gone, and is told once', async () => {
    const id = await underWay();
    release(410);
    const all = await ended(id, 1 + EVENTS);
    expect(all.map(({ status }) => status)).to.equal([...Array(EVENTS).fill('failed'), 'sent']);
    const known = [GONE, DISABLED, SUSPENDED, null];
    expect(errorsOf(all).filter((error) => !known.includes(error))).to.equal([]);
    expect(stage.target.received.length).to.be.at.most(1 + 2 * AT_ONCE);
    await idle();
    expect(await notices('webhook_disabled')).to.equal(1);
    release(200);
    await patch(id, { enabled: true });
    await stage.ask('POST', `/api/webhooks/${id}/deliveries/${all[0].id}/resend`);
    await until(
      () => deliveries(id),
      ([newest]) => newest?.status === 'sent',
    );
    await idle();
    expect((await deliveries(id)).filter(({ status }) => status === 'sent').length).to.equal(2);
  });

  it('ends where the webhook is disabled, what is under way by its own answer', async () => {
    const id = await underWay();
    const { body } = await patch(id, { enabled: false });
    expect(body.stats.waiting).to.equal(AT_ONCE);
    release(500);
    const all = await ended(id, 1 + EVENTS);
    expect(all.map(({ status }) => status)).to.equal([...Array(EVENTS).fill('failed'), 'sent']);
    expect(errorsOf(all)).to.equal([
      DISABLED,
      '500 from the endpoint; the webhook is disabled',
      null,
    ]);
    expect(await notices('webhook_disabled')).to.equal(0);
    await patch(id, { enabled: true });
    await idle();
    expect(stage.target.received.length).to.equal(1 + AT_ONCE);
  });

  it('is gone with a webhook that is deleted under it', async () => {
    const id = await underWay();
    expect((await stage.ask('DELETE', `/api/webhooks/${id}`)).status).to.equal(204);
    release(500);
    await idle();
    expect(stage.target.received.length).to.equal(1 + AT_ONCE);
    const { db } = stage.test.app.store;
    expect(await db.selectFrom('sendings').select('id').execute()).to.equal([]);
    expect(await notices('delivery_failed')).to.equal(0);
  });

  it('keeps the times of its next attempts over restarts', async () => {
    const id = await underWay();
    release(503);
    const first = await until(
      async () => (await deliveries(id)).at(-2),
      ({ attempts, status }) => attempts.length === 1 && status === 'queued',
    );
    release(200);
    for (let n = 0; n < 2; n++) await stage.test.restart();
    await until(
      () => deliveries(id),
      (rows) => rows.filter(({ status }) => status === 'sent').length > EVENTS - AT_ONCE,
    );
    expect((await deliveries(id)).at(-2)).to.equal(first);
    clock.forward(HOUR);
    const all = await ended(id, 1 + EVENTS);
    expect(all.every(({ status }) => status === 'sent')).to.be.true();
    const seen = stage.target.received.map(({ headers, body }) => ({
      ...{ id: `${headers['webhook-id']}`, body },
    }));
    const bodies = new Map(seen.map(({ id: each, body }) => [each, body]));
    expect(seen.filter(({ id: each, body }) => bodies.get(each) !== body)).to.equal([]);
    expect(bodies.size).to.equal(1 + EVENTS);
  });
});
