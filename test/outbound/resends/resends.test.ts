import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { iso } from '../../../src/kernel/clock.js';
import { mint } from '../../../src/kernel/ids.js';
import { until, untilMatches } from '../../harness/app.js';
import { linkChannel } from '../../harness/channel.js';
import { inside } from '../../harness/inside.js';
import { openForSuite } from '../../harness/suite.js';
import { openPlatform } from '../stage.js';
import { openStage } from '../webhooks/stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const SINCE = '2026-01-01T00:00:00.000Z';

interface Undelivered {
  webhook_id?: string;
  channel_id?: string;
  status?: 'failed' | 'unknown';
  /** Milliseconds before now. */
  agoMs?: number;
}

const stage = openForSuite(lab, openStage);
beforeEach(() => stage.clear());

const db = () => stage.test.app.store.db;

/** Adds messages that did not arrive, oldest first. */
const lose = async (count: number, to: Undelivered): Promise<string[]> => {
  const { status = 'failed', agoMs = 1_000, webhook_id = null, channel_id = null } = to;
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const at = Date.now() - agoMs + n;
    const type = 'hook.executed';
    const row = {
      ...{ id: mint('sending', at), user_id: stage.owner.id, webhook_id, channel_id },
      ...{ cause_id: mint('event', at), kind: type, status, attempts: 8, next_at: null },
      ...{ content: JSON.stringify({ type, timestamp: iso(at), data: { n } }) },
      ...{ receipt: null, error: '502 from the endpoint', created_at: iso(at) },
      finished_at: iso(at),
    };
    await db().insertInto('sendings').values(row).execute();
    ids.push(row.id);
  }
  return ids;
};

const ended = async (id: string) => {
  const { body } = await until(
    () => stage.ask('GET', `/api/operations/${id}`),
    (reply) => !['queued', 'running'].includes(reply.body.status),
  );
  return body;
};

describe('the resend of failed deliveries', () => {
  const resend = (body: object = {}) =>
    stage.ask('POST', '/api/webhooks/deliveries/resend', { since: SINCE, ...body });

  it('lists by webhook what it would send, and sends nothing', async () => {
    const a = await stage.webhook({ name: 'a' });
    const b = await stage.webhook({ name: 'b', enabled: false });
    const [first] = await lose(2, { webhook_id: a.id, agoMs: 60_000 });
    await lose(1, { webhook_id: b.id });
    await lose(1, { webhook_id: a.id, status: 'unknown' });
    const { status, body } = await resend({ dryRun: true });
    expect(status).to.equal(200);
    expect(body).to.include({ count: 2, skipped: 1, reasons: { disabled: 1 } });
    expect(
      body.parts.map((each: { name: string; count: number }) => [each.name, each.count]),
    ).to.equal([
      ['a', 2],
      ['b', 0],
    ]);
    expect(body.items[0]).to.include({ id: first, partId: a.id, status: 'failed', skipped: null });
    expect((await resend({ dryRun: true, webhookId: b.id })).body.count).to.equal(0);
    const since = iso(Date.now() - 30_000);
    expect((await resend({ dryRun: true, since })).body.count).to.equal(0);
    expect((await resend({ dryRun: true, until: since })).body.count).to.equal(2);
    expect(stage.target.received).to.equal([]);
  });

  it('sends each once, oldest first, under its webhook-id, and counts', async () => {
    const { id } = await stage.webhook();
    const ids = await lose(25, { webhook_id: id, agoMs: 60_000 });
    const [unknown] = await lose(1, { webhook_id: id, status: 'unknown' });
    const { status, body } = await resend({ webhookId: id });
    expect([status, body.kind]).to.equal([202, 'webhooks.resend']);
    expect(body.resource).to.equal({ kind: 'webhook', id });
    const { result, progress } = await ended(body.id);
    expect(result).to.equal({ resent: 25, skipped: 0, reasons: {} });
    expect(progress).to.equal({ done: 25, total: 25, unit: 'messages', note: '25 resent' });
    await stage.target.got(25);
    const sent = await until(
      () => db().selectFrom('sendings').select(['status']).where('id', 'in', ids).execute(),
      (rows) => rows.every((row) => row.status === 'sent'),
    );
    expect(sent).to.have.length(25);
    expect(
      new Set(stage.target.received.map(({ headers }) => headers['webhook-id'])).size,
    ).to.equal(25);
    const { status: left } = await db()
      .selectFrom('sendings')
      .select('status')
      .where('id', '=', unknown ?? '')
      .executeTakeFirstOrThrow();
    expect(left).to.equal('unknown');
  });

  it('sends what is unknown where that is named', async () => {
    const { id } = await stage.webhook();
    await lose(2, { webhook_id: id, status: 'unknown' });
    await lose(1, { webhook_id: id });
    const { body } = await resend({ status: ['unknown'] });
    expect((await ended(body.id)).result.resent).to.equal(2);
    await stage.target.got(2);
  });

  it('is not held up by an endpoint that is still dead', async () => {
    const dead = await stage.webhook({ name: 'dead', url: 'http://127.0.0.1:1/' });
    const alive = await stage.webhook({ name: 'alive' });
    await lose(30, { webhook_id: dead.id, agoMs: 60_000 });
    await lose(20, { webhook_id: alive.id });
    const { body } = await resend();
    await stage.target.got(20);
    const { body: now } = await stage.ask('GET', `/api/operations/${body.id}`);
    expect(now.status).to.equal('running');
    expect(inside(stage.test.app).outgoing.waiting(dead.id)).to.be.below(25);
    await stage.ask('PATCH', `/api/webhooks/${dead.id}`, { enabled: false });
    const { result } = await ended(body.id);
    expect(result.reasons.disabled > 0).to.be.true();
    expect(result.resent + result.skipped).to.equal(50);
  });

  it('refuses a webhook of somebody else, and what is no time', async () => {
    const other = await stage.test.register('another');
    const { id } = await stage.webhook();
    const body = { since: SINCE, webhookId: id };
    const path = '/api/webhooks/deliveries/resend';
    const { status } = await stage.test.call('POST', path, { token: other.token, body });
    expect(status).to.equal(404);
    expect((await stage.ask('POST', path, {})).status).to.equal(400);
  });
});

describe('the resend of failed messages to channels', () => {
  const resend = (body: object = {}) => stage.ask('POST', '/api/admin/outbox/resend', body);

  it('is the admin’s, and goes to the channels of all users', async () => {
    const slack = openPlatform();
    inside(stage.test.app).transports.put('slack', slack);
    const user = await stage.test.register('linked');
    const own = await linkChannel(stage.test, stage.owner.id);
    const theirs = await linkChannel(stage.test, user.id, {
      kind: 'slack',
      id: 'T1/U2',
      name: 'B',
    });
    await db().deleteFrom('sendings').execute();
    await lose(2, { channel_id: own.id });
    await lose(3, { channel_id: theirs.id });
    await lose(1, { webhook_id: (await stage.webhook()).id });
    const { body: listed } = await resend({ dryRun: true });
    expect([listed.count, listed.parts.length]).to.equal([5, 2]);
    expect(listed.parts[0].name).to.match(/^slack of /);
    const only = await resend({ dryRun: true, channelId: own.id });
    expect(only.body.count).to.equal(2);
    expect((await resend({ channelId: 'channel_1' })).status).to.equal(404);
    const before = slack.asked.length;
    const { body } = await resend();
    expect((await ended(body.id)).result).to.equal({ resent: 5, skipped: 0, reasons: {} });
    await untilMatches(async () => slack.asked.length - before, 5);
    const path = '/api/admin/outbox/resend';
    const { status } = await stage.test.call('POST', path, { token: user.token, body: {} });
    expect(status).to.equal(403);
  });
});
