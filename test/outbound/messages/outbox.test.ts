import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { ARRIVED, openStage, type Stage } from '../stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOBODYS = 'sending_01jcx2kq7m8f3k2a9v5ztw4e6r';

describe('/api/admin/outbox', () => {
  let stage: Stage;
  let stranger: string;
  before(async () => {
    stage = await openStage();
    stranger = (await stage.test.register('stranger')).token;
  });
  after(() => stage.test.stop());

  const list = (query = '', token: string | undefined = stage.owner.token) =>
    stage.test.call('GET', `/api/admin/outbox${query}`, { token });
  const resend = (id: string, token: string | undefined = stage.owner.token) =>
    stage.test.call('POST', `/api/admin/outbox/${id}/resend`, { token });
  const clear = () => stage.test.app.store.db.deleteFrom('sendings').execute();

  it('lists where each message goes, and nothing of what it says', async () => {
    await clear();
    await stage.tell('A secret');
    const [row] = await stage.ended('sent');
    const { body, text } = await list();
    expect(body).to.equal({
      sendings: [
        {
          id: row?.id,
          status: 'sent',
          kind: 'hook_notice',
          target: 'slack',
          ...{
            channelId: stage.channelId,
            webhookId: null,
            hookId: null,
            attempts: 1,
            nextAttemptAt: null,
          },
          ...{ receipt: 'ts-1', error: null },
          ...{ createdAt: row?.created_at, finishedAt: row?.finished_at },
          ...{ userId: stage.owner.id, username: 'owner' },
        },
      ],
      nextCursor: null,
    });
    expect(text).to.not.include('secret');
  });

  it('filters, and pages', async () => {
    await clear();
    for (const title of ['one', 'two', 'three']) await stage.tell(title);
    await until(stage.messages, (rows) => rows.filter(({ receipt }) => receipt).length === 3);
    const count = async (query: string): Promise<number> =>
      (await list(query)).body.sendings.length;
    const channel = `?channelId=${stage.channelId}`;
    expect([await count('?status=failed'), await count('?status=sent')]).to.equal([0, 3]);
    expect([await count('?kind=hook_notice'), await count('?kind=other')]).to.equal([3, 0]);
    expect([await count(channel), await count('?webhookId=webhook_1')]).to.equal([3, 0]);
    const first = (await list('?limit=2')).body;
    const rest = (await list(`?limit=2&cursor=${first.nextCursor}`)).body;
    expect([first.sendings.length, rest.sendings.length, rest.nextCursor]).to.equal([2, 1, null]);
  });

  it('sends again what failed or is unknown, once, and writes it down', async () => {
    for (const verdict of ['failed', 'unknown'] as const) {
      await clear();
      stage.slack.answer = async () => ({ verdict, error: 'no' });
      await stage.tell('Again');
      const [dead] = await stage.ended(verdict);
      stage.slack.answer = async () => ARRIVED;
      const { status, body } = await resend(dead?.id ?? '');
      expect({ status, id: body.id }).to.equal({ status: 202, id: dead?.id });
      const [sent] = await stage.ended('sent');
      expect(sent).to.include({ id: dead?.id, attempts: 2, error: null });
      expect((await resend(dead?.id ?? '')).body.message).to.equal(
        'Only messages with status failed or unknown can be resent. This message is sent',
      );
    }
    const { body } = await stage.test.call('GET', '/api/admin/audit?action=outbox.resend', {
      token: stage.owner.token,
    });
    const outcomes = body.entries.map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes.filter((outcome: string) => outcome === 'ok').length).to.equal(2);
  });

  it('sends it once where two ask at the same time', async () => {
    await clear();
    stage.slack.answer = async () => ({ verdict: 'failed', error: 'no' });
    await stage.tell('Twice at once');
    const [dead] = await stage.ended('failed');
    stage.slack.answer = async () => ARRIVED;
    const before = stage.slack.asked.length;
    const replies = await Promise.all([1, 2, 3].map(() => resend(dead?.id ?? '')));
    expect(replies.map(({ status }) => status).sort()).to.equal([202, 409, 409]);
    await stage.ended('sent');
    await until(stage.jobs, (jobs) => jobs.length === 0);
    expect(stage.slack.asked.length).to.equal(before + 1);
  });

  it('is for admins', async () => {
    expect((await list('', '')).status).to.equal(401);
    expect((await list('', stranger)).status).to.equal(403);
    expect((await resend(NOBODYS, '')).status).to.equal(401);
    expect((await resend(NOBODYS, stranger)).status).to.equal(403);
    expect((await resend(NOBODYS)).status).to.equal(404);
  });

  it('names the field that is wrong', async () => {
    const { status, body } = await list('?status=lost');
    expect([status, body.details[0].path]).to.equal([400, 'status']);
  });

  it('shows an owner where a notification went, and nobody else', async () => {
    await clear();
    await stage.tell('Where to?', 'effect-where');
    const [row] = await stage.ended('sent');
    const path = `/api/notifications/${row?.cause_id}/sendings`;
    const { body } = await stage.test.call('GET', path, { token: stage.owner.token });
    const [message, ...more] = body.sendings;
    expect(more).to.equal([]);
    expect(message).to.include({ id: row?.id, status: 'sent', target: 'slack', receipt: 'ts-1' });
    const [attempt] = message.log;
    expect(attempt).to.equal({
      ...{ number: 1, verdict: 'sent', statusCode: null, error: null },
      ...{ at: attempt.at, durationMs: attempt.durationMs },
    });
    expect((await stage.test.call('GET', path)).status).to.equal(401);
    expect((await stage.test.call('GET', path, { token: stranger })).status).to.equal(404);
  });

  it('is a part of the health, and counted', async () => {
    await clear();
    stage.slack.answer = async () => ({ verdict: 'failed', error: 'no' });
    await stage.tell('Lost');
    await stage.ended('failed');
    await untilMatches(async () => inside(stage.test.app).outgoing.totals(), { running: 0 });
    const { token } = stage.owner;
    const { body } = await stage.test.call('GET', '/health/detailed', { token });
    const part = body.parts.find(({ name }: { name: string }) => name === 'channels');
    expect({ status: part.status, detail: part.detail }).to.equal({
      status: 'warn',
      detail: '0 queued, 0 in progress; not delivered in the last hour: slack 1',
    });
    await clear();
    stage.slack.answer = async () => ({ verdict: 'unknown', error: 'cut' });
    await stage.tell('Unclear');
    await stage.ended('unknown');
    await untilMatches(async () => inside(stage.test.app).outgoing.totals(), { running: 0 });
    const { parts } = (await stage.test.call('GET', '/health/detailed', { token })).body;
    expect(parts.find(({ name }: { name: string }) => name === 'channels').detail).to.equal(
      '0 queued, 0 in progress; possibly not delivered in the last hour: slack 1',
    );
    const { text } = await stage.test.call('GET', '/metrics', { token });
    expect(text).to.match(/^adjutant_outbox_waiting 0$/m);
    expect(text).to.match(/^adjutant_outbox_running 0$/m);
  });
});
