import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { ARRIVED, openStage, type Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, afterEach } = lab;

describe('what leaves for a channel', () => {
  let stage: Stage;
  afterEach(() => stage.test.stop());

  it('arrives once, with its receipt and the attempt on record', async () => {
    stage = await openStage();
    await stage.tell('Backup done', 'effect-1');
    await stage.tell('Backup done', 'effect-1');
    const [message, ...more] = await stage.ended('sent');
    expect(more).to.equal([]);
    expect(message).to.include({
      ...{
        user_id: stage.owner.id,
        channel_id: stage.channelId,
        webhook_id: null,
        kind: 'hook_notice',
      },
      ...{ status: 'sent', attempts: 1, next_at: null, receipt: 'ts-1', error: null },
    });
    expect(JSON.parse(message?.content ?? '')).to.equal({
      ...{ title: 'Backup done', body: 'Backup done, in full', link: null },
    });
    expect(await stage.attempts()).to.equal([{ number: 1, verdict: 'sent', error: null }]);
    await until(stage.jobs, (jobs) => jobs.length === 0);
    expect(stage.slack.asked.length).to.equal(1);
  });

  it('costs who has no verified channel no job', async () => {
    stage = await openStage();
    await stage.test.app.store.db.updateTable('channels').set({ verified_at: null }).execute();
    const { statements } = inside(stage.test.app).outbox.toOwner(stage.owner.id, {
      ...{ kind: 'hook_notice', title: 'A title', body: '', link: null },
    });
    await stage.test.app.store.transact(statements);
    expect(await stage.jobs()).to.equal([]);
  });

  it('keeps the order of a conversation', async () => {
    stage = await openStage();
    const titles = Array.from({ length: 10 }, (_each, at) => `message ${at}`);
    for (const title of titles) await stage.tell(title);
    await until(
      stage.messages,
      (rows) => rows.filter((row) => row.status === 'sent').length === 10,
    );
    expect(stage.slack.asked.map(({ content }) => JSON.parse(content).title)).to.equal(titles);
  });

  it('is not on its way while it waits for its turn at the target', async () => {
    stage = await openStage();
    let go = (): void => undefined;
    stage.slack.ready = () => new Promise((resolve) => (go = resolve));
    inside(stage.test.app).transports.put('slack', stage.slack);
    await stage.tell('In its turn');
    await until(
      async () => inside(stage.test.app).outgoing.totals(),
      ({ running, waiting }) => running === 1 && waiting === 0,
    );
    const [waiting] = await until(stage.messages, ({ length }) => length === 1);
    expect(waiting).to.include({ status: 'queued', attempts: 0 });
    await until(
      async () => go(),
      () => stage.slack.asked.length === 1,
    );
    await stage.ended('sent');
  });

  it('is tried again after the delays of its transport, and arrives', async () => {
    stage = await openStage({ delaysMs: [10, 20] });
    stage.slack.answer = async (message) =>
      message.attempts < 3 ? { verdict: 'retry', status: 503, error: 'busy' } : ARRIVED;
    await stage.tell('Third time lucky');
    const [message] = await stage.ended('sent');
    expect(message?.attempts).to.equal(3);
    expect(await stage.attempts()).to.equal([
      { number: 1, verdict: 'retry', error: 'busy' },
      { number: 2, verdict: 'retry', error: 'busy' },
      { number: 3, verdict: 'sent', error: null },
    ]);
  });

  it('waits as long as the target asks, a day at most', async () => {
    stage = await openStage({ delaysMs: [10] });
    stage.slack.answer = async () => ({ verdict: 'retry', error: 'slow down', afterMs: 1e9 });
    const since = Date.now();
    await stage.tell('Later');
    const [message] = await until(stage.messages, ([row]) => row?.error === 'slow down');
    const waitMs = Date.parse(message?.next_at ?? '') - since;
    expect(waitMs).to.be.between(24 * 3_600_000 - 1000, 24 * 3_600_000 + 20_000);
  });

  it('is a dead letter after the last try, and told in the app once an hour for each target', async () => {
    stage = await openStage({ delaysMs: [10] });
    stage.slack.answer = async () => ({ verdict: 'retry', status: 500, error: 'broken' });
    await stage.tell('first');
    await stage.tell('second');
    const ended = await stage.ended('failed');
    expect(ended.map(({ attempts, error }) => ({ attempts, error }))).to.equal([
      { attempts: 2, error: 'broken' },
      { attempts: 2, error: 'broken' },
    ]);
    const kinds = await stage.notifications();
    expect(kinds.filter((kind) => kind === 'delivery_failed').length).to.equal(1);
    await until(stage.jobs, (jobs) => jobs.length === 0);
    expect((await stage.messages()).length).to.equal(2);
  });

  it('is kept as unknown where the answer was lost, and not sent again', async () => {
    stage = await openStage({ delaysMs: [10] });
    stage.slack.answer = async () => ({ verdict: 'unknown', error: 'no answer' });
    await stage.tell('Did it arrive?');
    const [message] = await stage.ended('unknown');
    expect(message).to.include({ attempts: 1, error: 'no answer' });
    expect(await stage.notifications()).to.include('delivery_unknown');
    await until(stage.jobs, (jobs) => jobs.length === 0);
    expect(stage.slack.asked.length).to.equal(1);
  });

  it('cuts what the target answered', async () => {
    stage = await openStage();
    const excerpt = 'x'.repeat(1_000_000);
    stage.slack.answer = async () => ({ verdict: 'failed', status: 400, error: 'no', excerpt });
    await stage.tell('A megabyte of nonsense');
    await stage.ended('failed');
    const { db } = stage.test.app.store;
    const [attempt] = await db.selectFrom('sending_attempts').selectAll().execute();
    expect(attempt?.excerpt).to.equal('x'.repeat(2000));
  });

  it('ends with its channel', async () => {
    stage = await openStage({ delaysMs: [100_000] });
    stage.slack.answer = async () => ({ verdict: 'retry', error: 'busy' });
    await stage.tell('Too late');
    await until(stage.attempts, ({ length }) => length === 1);
    const { token } = stage.owner;
    const path = `/api/channels/${stage.channelId}`;
    expect((await stage.test.call('DELETE', path, { token })).status).to.equal(204);
    expect(await stage.messages()).to.equal([]);
    expect(await stage.jobs()).to.equal([]);
  });

  it('ends quietly where its channel goes while it is sent', async () => {
    stage = await openStage();
    stage.slack.answer = async () => {
      await stage.test.app.store.db.deleteFrom('channels').execute();
      return { verdict: 'failed', error: 'gone' };
    };
    await stage.tell('Too late');
    await until(stage.jobs, (jobs) => jobs.length === 0 && stage.slack.asked.length === 1);
    expect(await stage.messages()).to.equal([]);
    expect(await stage.notifications()).to.not.include('delivery_failed');
  });

  it('ends quietly where its owner was disabled', async () => {
    stage = await openStage({ delaysMs: [10] });
    stage.slack.answer = async () => {
      const at = new Date().toISOString();
      await stage.test.app.store.db.updateTable('users').set({ disabled_at: at }).execute();
      return { verdict: 'retry', error: 'busy' };
    };
    await stage.tell('To nobody');
    const [message] = await stage.ended('failed');
    expect(message).to.include({ attempts: 1, error: 'the owner or the target is disabled' });
    const told = await stage.test.app.store.db
      .selectFrom('notifications')
      .select('kind')
      .where('kind', '=', 'delivery_failed')
      .execute();
    expect(told).to.equal([]);
  });
});
