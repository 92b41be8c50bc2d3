import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { version } from '../../../src/version.js';
import { type FrozenClock, frozenClock } from '../../harness/app.js';
import { askApproval } from '../../harness/approval.js';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const OPEN = {
  dailyCostUsd: 4,
  publicUrl: 'https://a.example',
  registration: 'open',
  tokenHours: 48,
} as const;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('the overview', () => {
  let clock: FrozenClock;
  let desk: Desk;
  before(async () => {
    clock = frozenClock();
    desk = await openDesk({ clock, config: OPEN });
  });
  beforeEach(() => desk.arrive());
  after(() => desk.test.stop());

  const look = async (token = desk.owner.token, { test } = desk) => {
    const { body, status } = await test.call('GET', '/api/overview', { token });
    expect(status).to.equal(200);
    return body;
  };
  const failing = {
    name: 'broken',
    action: 'execute_tool',
    actionConfig: { toolId: 'http', toolAction: 'request', toolParams: { url: 'no address' } },
  };

  it('shows the stages of pipelines that wait for somebody, until they are answered', async () => {
    const stages = [{ key: 'ok', kind: 'approval', config: { message: 'Publish?' } }];
    const { body: kept } = await desk.ask('POST', '/api/pipelines/templates', {
      name: 'N',
      stages,
    });
    const { body: run } = await desk.ask('POST', '/api/pipelines', { templateId: kept.id });
    const needs = async () =>
      (await look()).needs.filter(({ kind }: { kind: string }) => kind === 'stage');
    const inAWeek = new Date(clock.now() + 7 * DAY_MS).toISOString();
    expect(await needs()).to.equal([
      {
        kind: 'stage',
        id: run.id,
        title: 'N: ok',
        detail: `waits for you: adjutant pipelines get ${run.id.slice(-6)}`,
        agentId: null,
        hookId: null,
        untrusted: false,
        at: inAWeek,
      },
    ]);
    expect((await look((await desk.test.register('eve')).token)).needs).to.equal([]);
    const { digest } = run.stages[0];
    await desk.ask('POST', `/api/pipelines/${run.id}/stages/ok/approve`, { digest });
    expect(await needs()).to.equal([]);
  });

  it('names the mail accounts that fail, and for a day the mails that were not sent', async () => {
    const { body: kept } = await desk.ask('POST', '/api/vault', {
      ...{ name: 'box', type: 'password', value: 'sample' },
    });
    const server = { host: 'mail.example.org', port: 993, tls: 'implicit' };
    const account = async (address: string) => {
      const body = { address, credentialId: kept.id, imap: server, smtp: server };
      return (await desk.ask('POST', '/api/email/accounts', body)).body.id as string;
    };
    const [works, refused] = [await account('ok@example.org'), await account('no@example.org')];
    const { db } = desk.test.app.store;
    const change = { status: 'needs_login', error: 'NO [AUTHENTICATIONFAILED]' } as const;
    await db.updateTable('mail_accounts').set(change).where('id', '=', refused).execute();
    const mail = async (n: number, status: 'sent' | 'failed' | 'unknown', error: string | null) => {
      const id = `sentmail_0000000000000000000000000${n}`;
      const made = { user_id: desk.owner.id, account_id: works, message_id: `<${n}@x>` };
      const texts = { subject: `Minutes ${n}`, text: '', refs: '[]', attachments: '[]' };
      const rest = { recipients: '[]', attempts: 1, copy: 'none', created_at: nowText() } as const;
      await db
        .insertInto('mail_sent')
        .values({ id, ...made, ...texts, ...rest, status, error })
        .execute();
      return id;
    };
    const nowText = () => new Date(clock.now()).toISOString();
    await mail(1, 'sent', null);
    const failed = await mail(2, 'failed', '550 no such user');
    const needs = async (token?: string) =>
      (await look(token)).needs.map(({ kind, id, title, detail }: Record<string, string>) => [
        ...[kind, id, title, detail],
      ]);
    const ofAccount = [
      ...['mailbox', refused, 'no@example.org'],
      `the server refuses the login, NO [AUTHENTICATIONFAILED]: adjutant email accounts test ${refused.slice(-6)}`,
    ];
    const shownFailed = [
      ...['mail', failed, 'Minutes 2'],
      'not sent: 550 no such user: adjutant email sent get 000002',
    ];
    expect(await needs()).to.equal([ofAccount, shownFailed]);
    expect((await look()).mailboxes).to.equal({ total: 2, watched: 0, failing: 1 });
    clock.forward(MINUTE_MS);
    await mail(3, 'unknown', null);
    const [, lost] = await needs();
    expect(lost?.slice(2)).to.equal([
      'Minutes 3',
      'the reply of the server was lost; the e-mail is not resent automatically: adjutant email sent get 000003',
    ]);
    clock.forward(MINUTE_MS);
    const partly = await mail(4, 'sent', null);
    const recipients = JSON.stringify([
      { address: 'bob@example.org', place: 'to', status: 'sent', reply: null },
      { address: 'eve@example.org', place: 'to', status: 'refused', reply: '550 no such user' },
      { address: 'dan@example.org', place: 'cc', status: 'bounced', reply: 'full' },
    ]);
    await db.updateTable('mail_sent').set({ recipients }).where('id', '=', partly).execute();
    expect((await needs())[1]?.slice(2)).to.equal([
      'Minutes 4',
      'not delivered to 2 of 3 recipients: 550 no such user: adjutant email sent get 000004',
    ]);
    expect(await needs((await desk.test.register('paul')).token)).to.equal([]);
    clock.forward(DAY_MS + MINUTE_MS);
    expect(await needs()).to.equal([ofAccount]);
  });

  it('is quiet where nothing happened', async () => {
    const fresh = await openDesk({ clock: frozenClock(), config: OPEN });
    const { parts, ...rest } = await look(fresh.owner.token, fresh);
    await fresh.test.stop();
    expect(parts.map(({ name }: { name: string }) => name)).to.include(['database', 'queue']);
    expect(rest).to.equal({
      version,
      at: '2026-03-01T12:00:00.000Z',
      uptimeSeconds: 0,
      publicUrl: 'https://a.example',
      reach: 'unverified',
      queue: { waiting: 0, running: 0, atOnce: 20, oldestMs: null },
      rates: Array.from({ length: 60 }, () => 0),
      agents: { running: 0, queued: 0, waitingApproval: 0, paused: 0 },
      operations: { running: 0, queued: 0 },
      pipelines: { open: 0, waiting: 0 },
      recurring: { enabled: 0, nextAt: null },
      mailboxes: { total: 0, watched: 0, failing: 0 },
      today: { costUsd: 0, limitUsd: 4, agents: 0, executions: 0, failed: 0 },
      needs: [],
      unread: 0,
    });
  });

  it('counts the executions of each minute of the last hour', async () => {
    const id = await desk.hook(onPath('rates'));
    await desk.deliver('rates', '{"n":1}');
    clock.forward(2 * MINUTE_MS);
    await desk.deliver('rates', '{"n":2}');
    await desk.deliver('rates', '{"n":3}');
    await desk.ended(id, 3);
    expect((await look()).rates.slice(-3)).to.equal([1, 0, 2]);
    clock.forward(58 * MINUTE_MS);
    const { rates, today } = await look();
    expect([rates[0], rates[1], rates[2]]).to.equal([0, 2, 0]);
    expect(today).to.include({ executions: 3, failed: 0 });
    clock.forward(DAY_MS);
    expect((await look()).today.executions).to.equal(0);
  });

  it('names what needs its user: approvals, what failed, and what ends soon', async () => {
    const approval = await askApproval(desk.test, desk.owner.id);
    const id = await desk.hook({ ...failing, ...onPath('broken') });
    await desk.deliver('broken', '{}');
    const [execution] = await desk.ended(id);
    const credential = async (name: string, days: number) => {
      const expiresAt = new Date(clock.now() + days * DAY_MS).toISOString();
      const body = { name, type: 'api_key', value: 'a value', expiresAt };
      return (await desk.ask('POST', '/api/vault', body)).body;
    };
    const soon = await credential('soon', 6);
    await credential('later', 8);
    const { needs } = await look();
    expect(needs.map(({ kind, id: which }: Record<string, string>) => [kind, which])).to.equal([
      ['approval', approval],
      ['failed', execution.id],
      ['expiring', soon.credential?.id ?? soon.id],
    ]);
    expect(needs[1]).to.equal({
      kind: 'failed',
      id: execution.id,
      title: 'broken',
      detail: execution.error,
      agentId: null,
      hookId: id,
      untrusted: null,
      at: execution.finishedAt,
    });
  });

  it('is each user’s own', async () => {
    await askApproval(desk.test, desk.owner.id);
    await desk.hook({ ...failing, ...onPath('own') });
    await desk.deliver('own', '{}');
    const stranger = await desk.test.register('stranger');
    const { needs, rates, today, unread, agents } = await look(stranger.token);
    expect({ needs, unread, agents }).to.equal({
      needs: [],
      unread: 0,
      agents: { running: 0, queued: 0, waitingApproval: 0, paused: 0 },
    });
    expect(rates.every((count: number) => count === 0)).to.be.true();
    expect(today).to.equal({ costUsd: 0, limitUsd: 4, agents: 0, executions: 0, failed: 0 });
  });

  it('is not shown without a token', async () => {
    expect((await desk.test.call('GET', '/api/overview')).status).to.equal(401);
  });
});
