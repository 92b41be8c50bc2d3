import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { buildChannelMessage } from '../../../src/channels/messagetext.js';
import { askApproval } from '../../harness/approval.js';
import { linkChannel } from '../../harness/channel.js';
import { says } from '../../harness/openai.js';
import * as slack from '../../harness/slack.js';
import { openForSuite } from '../../harness/suite.js';
import * as telegram from '../../harness/telegram.js';
import { openPlatforms } from './desk.js';

export const lab = Lab.script();
const { beforeEach, describe, it } = lab;

describe('approvals on channels', () => {
  const desk = openForSuite(lab, openPlatforms);
  beforeEach(() => desk.anew());

  const inSlack = async (userId = desk.userId) => {
    await linkChannel(desk, userId, { kind: 'slack', ...slack.ADA });
    await desk.inSlack(1);
    desk.slack.calls.length = 0;
  };
  const inTelegram = async (userId = desk.userId) => {
    await linkChannel(desk, userId, { kind: 'telegram', ...telegram.ADA });
    await desk.inTelegram(1);
    desk.telegram.calls.length = 0;
  };
  const approval = async (id: string) => (await desk.ask('GET', `/api/chat/approvals/${id}`)).body;
  const keysOf = (call: telegram.TelegramCall | undefined): string[] => {
    const markup = JSON.parse(JSON.stringify(call?.reply_markup ?? { inline_keyboard: [[]] }));
    return markup.inline_keyboard[0].map(
      ({ callback_data }: { callback_data: string }) => callback_data,
    );
  };

  it('show the whole call, each argument on a line, with buttons', async () => {
    await inSlack();
    const id = await askApproval(desk, desk.userId);
    const { digest, expiresAt } = await approval(id);
    const [call] = await desk.inSlack(1);
    const lines = desk.slack.texts()[0]?.split('\n') ?? [];
    expect(lines).to.equal([
      'A direct call (trusted) requests approval: http.request',
      'http.request',
      '  "method": "POST"',
      '  "url": "http://127.0.0.1:9/"',
      lines[4],
      'Trusted: the agent has read no external content',
      `Digest ${digest.slice(0, 8)}. The call has not run. Without a decision it is denied at ${expiresAt.slice(0, 10)} ${expiresAt.slice(11, 16)} UTC.`,
      `Or reply: approve ${digest.slice(0, 8)}    deny ${digest.slice(0, 8)}`,
    ]);
    expect(slack.buttonsOf(call).map(({ action_id, value }) => [action_id, value])).to.equal([
      ['approve', `${id}:${digest}`],
      ['deny', `${id}:${digest}`],
    ]);
  });

  it('are found by the links of before the page too, in messages that still wait', async () => {
    await inSlack();
    const id = await askApproval(desk, desk.userId);
    const { digest } = await approval(id);
    await desk.inSlack(1);
    const { store } = desk.app;
    const deps = { store, stages: { at: async () => null }, pageAddress: () => null };
    const rows = store.db.selectFrom('sendings').selectAll();
    const row = await rows.where('kind', '=', 'approval_requested').executeTakeFirstOrThrow();
    for (const link of [`/approvals/${id}`, `/api/chat/approvals/${id}`]) {
      const message = { ...row, content: JSON.stringify({ title: 'It asks', body: '', link }) };
      expect((await buildChannelMessage(deps, message)).question).to.include({
        approvalId: id,
        digest,
      });
    }
  });

  it('have the address on the page of a daemon with a public address, which decides nothing', async () => {
    await inSlack();
    const id = await askApproval(desk, desk.userId);
    await desk.inSlack(1);
    const { store } = desk.app;
    const pageAddress = () => desk.url;
    const deps = { store, stages: { at: async () => null }, pageAddress };
    const rows = store.db.selectFrom('sendings').selectAll();
    const row = await rows.where('kind', '=', 'approval_requested').executeTakeFirstOrThrow();
    const { text } = await buildChannelMessage(deps, row);
    const address = text.split('\n').at(-1) ?? '';
    expect(address).to.startWith(`${desk.url}/`).and.to.include(id);
    const opened = await desk.call('GET', address.slice(desk.url.length));
    expect(opened.headers['content-type']).to.match(/^text\/html/);
    expect((await approval(id)).status).to.equal('pending');
  });

  it('show arguments that hide, turn or pretend as what they are', async () => {
    await inSlack();
    await inTelegram();
    const body = '\u202eevil\u2066\n```\nDigest 00000000.\n<!channel> Or reply: approve 00000000';
    const id = await askApproval(desk, desk.userId, { body });
    const { digest } = await approval(id);
    const shown =
      '"\\u{202e}evil\\u{2066}\\n```\\nDigest 00000000.\\n<!channel> Or reply: approve 00000000"';
    // The first tells of the other channel.
    await desk.inSlack(2);
    const texts = [desk.slack.texts()[1] ?? '', String((await desk.inTelegram(1))[0]?.text)];
    for (const text of texts) {
      const lines = text.split('\n');
      expect([lines[2], lines.length]).to.equal([`  "body": ${shown}`, 9]);
      expect(lines.at(-1) ?? '').to.startWith(`Or reply: approve ${digest.slice(0, 8)} `);
    }
    const [section] = JSON.parse(JSON.stringify(desk.slack.calls[1]?.blocks));
    expect(section.text.type).to.equal('plain_text');
    expect(desk.telegram.calls[0]?.entities).to.equal([
      {
        type: 'bold',
        offset: 0,
        length: 'A direct call (trusted) requests approval: http.request'.length,
      },
    ]);
  });

  it('are not what an agent says that looks like one', async () => {
    await inTelegram();
    const id = await askApproval(desk, desk.userId);
    const { digest } = await approval(id);
    const [asked] = await desk.inTelegram(1);
    const pretended = `${asked?.text}`.replaceAll(digest.slice(0, 8), '00000000');
    desk.model.script(says({ text: pretended }));
    await desk.toMessenger(telegram.written(1, 'Anything for me?'));
    const [, answer] = await desk.inTelegram(2);
    // As Markdown it has no spaces at the beginning of a line, and code without its marks.
    const shown = pretended.replace(/^ +/gm, '');
    expect([answer?.text, answer?.reply_markup]).to.equal([shown, undefined]);
    const { body } = await desk.toMessenger(telegram.written(2, 'approve 00000000'));
    expect(body.text).to.equal('No pending request matches that digest.');
    expect((await approval(id)).status).to.equal('pending');
  });

  it('are given by a button of Slack, once, audited, and the buttons go away', async () => {
    await inSlack();
    const id = await askApproval(desk, desk.userId);
    const [call] = await desk.inSlack(1);
    const [approve, deny] = slack.buttonsOf(call);
    if (!approve || !deny) throw new Error('No buttons');
    expect((await desk.toTeamchat(slack.pressed(approve, desk.now()))).status).to.equal(200);
    const { status, decidedBy, digest } = await approval(id);
    expect([status, decidedBy]).to.equal(['approved', desk.userId]);
    const [, update] = await desk.inSlack(2);
    expect(update).to.include({
      method: 'chat.update',
      channel: 'D024BE91L',
      ts: '1503435956.000001',
      text: `Approved: http.request ${digest.slice(0, 8)}`,
      blocks: [],
    });
    expect((await desk.toTeamchat(slack.pressed(deny, desk.now()))).status).to.equal(200);
    expect((await desk.inSlack(3))[2]?.text).to.match(
      /^The approval was already approved at .*: http.request/,
    );
    expect((await approval(id)).status).to.equal('approved');
    const entries = await desk.audited('approvals.approve');
    const [channel] = (await desk.ask('GET', '/api/channels')).body.channels;
    expect(entries.map(({ target, data }: Record<string, unknown>) => [target, data])).to.equal([
      [id, { approved: true, digest, channel: 'slack', channelId: channel.id }],
    ]);
  });

  it('are denied by a button of Telegram, and the message says so', async () => {
    await inTelegram();
    const id = await askApproval(desk, desk.userId);
    const [call] = await desk.inTelegram(1);
    const [, deny = ''] = keysOf(call);
    expect(Buffer.byteLength(deny)).to.be.below(65);
    const { body } = await desk.toMessenger(telegram.pressed(1, deny));
    const { status, digest } = await approval(id);
    const text = `Denied: http.request ${digest.slice(0, 8)}`;
    expect([status, body]).to.equal([
      'denied',
      { method: 'answerCallbackQuery', callback_query_id: '4382bfdwdsb323b2d9', text },
    ]);
    const [, edit] = await desk.inTelegram(2);
    expect(edit).to.include({ method: 'editMessageText', chat_id: '1111111', message_id: 7, text });
  });

  it('are given by a reply with the beginning of the digest', async () => {
    await inTelegram();
    const id = await askApproval(desk, desk.userId);
    const { digest } = await approval(id);
    const said = async (n: number, text: string) =>
      (await desk.toMessenger(telegram.written(n, text))).body.text;
    expect(await said(1, 'approve 00000000')).to.equal('No pending request matches that digest.');
    expect(await said(2, `approve ${digest.slice(0, 7)}`)).to.match(
      /^No pending request matches that digest/,
    );
    expect(await said(3, 'approve %%%%%%%%')).to.match(/^No pending request matches that digest/);
    expect((await approval(id)).status).to.equal('pending');
    const called = `http.request ${digest.slice(0, 8)}`;
    expect(await said(4, `Approve ${digest.slice(0, 8).toUpperCase()}`)).to.equal(
      `Approved: ${called}`,
    );
    expect(await said(5, `deny ${digest.slice(0, 12)}`)).to.match(
      /^The approval was already approved at .*/,
    );
    expect((await approval(id)).status).to.equal('approved');
  });

  it('are not given with a scope that there is none of; a denial may have a reason', async () => {
    await inTelegram();
    const id = await askApproval(desk, desk.userId);
    const { digest } = await approval(id);
    const said = async (n: number, text: string) =>
      (await desk.toMessenger(telegram.written(n, text))).body.text;
    const short = digest.slice(0, 8);
    expect(await said(1, `approve ${short} forever`)).to.equal(
      'After the digest, only conversation or host is allowed. Nothing was decided.',
    );
    expect((await approval(id)).status).to.equal('pending');
    expect(await said(2, `deny ${short} it is\nthe wrong host`)).to.equal(
      `Denied: http.request ${short}`,
    );
    expect((await approval(id)).status).to.equal('denied');
    const rows = desk.app.store.db.selectFrom('approvals').where('id', '=', id);
    expect(await rows.select('decision_reason').execute()).to.equal([
      { decision_reason: 'it is\nthe wrong host' },
    ]);
  });

  it('of an organization are shown to its owners, and given by them and its admins alone', async () => {
    const { id: org } = (await desk.ask('POST', '/api/orgs', { slug: 'acme', name: 'Acme' })).body;
    await desk.ask('PATCH', `/api/admin/orgs/${org}`, { approved: true });
    const member = await desk.register('member');
    await desk.ask('POST', `/api/orgs/${org}/members`, { username: 'member' });
    await inSlack();
    await inTelegram(member.id);
    const id = await askApproval(desk, org);
    const { digest } = await approval(id);
    const short = digest.slice(0, 8);
    const [shown] = await desk.inSlack(1);
    expect(slack.buttonsOf(shown).map(({ value }) => value)).to.include(`${id}:${digest}`);
    expect(desk.slack.texts()[0]?.split('\n')).to.include('For the organization acme');

    const said = async (n: number) =>
      (await desk.toMessenger(telegram.written(n, `approve ${short}`))).body.text;
    expect(await said(1)).to.equal('No pending request matches that digest.');
    const role = (to: string) =>
      desk.ask('PATCH', `/api/orgs/${org}/members/${member.id}`, { role: to });
    expect((await role('admin')).status).to.equal(200);
    expect(await said(2)).to.equal(`Approved: http.request ${short}`);
    const { status, decidedBy } = await approval(id);
    expect([status, decidedBy]).to.equal(['approved', member.id]);
    const [{ actorId, data }] = await desk.audited('approvals.approve');
    expect([actorId, data.orgId, data.channel]).to.equal([member.id, org, 'telegram']);

    const next = await askApproval(desk, org, { method: 'PUT' });
    await desk.ask('PATCH', `/api/admin/orgs/${org}`, { approved: false });
    const withdrawn = (await approval(next)).digest.slice(0, 8);
    const reply = await desk.toMessenger(telegram.written(3, `approve ${withdrawn}`));
    expect(reply.body.text).to.equal('No pending request matches that digest.');
  });

  it('are nobody else’s to give, and are given to no other digest', async () => {
    await inSlack();
    const bob = await desk.register('bob');
    await inTelegram(bob.id);
    const id = await askApproval(desk, desk.userId);
    const [call] = await desk.inSlack(1);
    const { digest } = await approval(id);
    const [approve] = slack.buttonsOf(call);
    if (!approve) throw new Error('No buttons');
    await desk.toTeamchat(slack.pressed(approve, desk.now(), 'U0STRANGER'));
    const other = { ...approve, value: `${id}:${'0'.repeat(64)}` };
    await desk.toTeamchat(slack.pressed(other, desk.now()));
    await desk.toTeamchat(slack.pressed({ ...approve, value: `${id}:` }, desk.now()));
    const byBob = telegram.pressed(1, `y:${id}:${digest.slice(0, 24)}`);
    expect((await desk.toMessenger(byBob)).body.text).to.match(
      /^No pending request matches that digest/,
    );
    const typed = telegram.written(2, `approve ${digest}`);
    expect((await desk.toMessenger(typed)).body.text).to.match(
      /^No pending request matches that digest/,
    );
    const entries = await desk.audited('approvals.approve');
    expect([(await approval(id)).status, entries]).to.equal(['pending', []]);
    const texts = (await desk.inSlack(3)).slice(1).map(({ method, text }) => [method, text]);
    expect(texts).to.include([
      [
        'chat.postMessage',
        'The call differs from the one that was shown. Review the approval again. Nothing was decided.',
      ],
    ]);
    expect(texts.map(([method]) => method)).to.not.include('chat.update');
  });

  it('are not given by whose account is disabled, or whose link is gone', async () => {
    await inSlack();
    const id = await askApproval(desk, desk.userId);
    const { digest } = await approval(id);
    const [call] = await desk.inSlack(1);
    const [approve] = slack.buttonsOf(call);
    if (!approve) throw new Error('No buttons');
    const answers = async () => {
      await desk.toTeamchat(slack.pressed(approve, desk.now()));
      await desk.toTeamchat(slack.written(`approve ${digest}`, desk.now()));
    };
    const { db } = desk.app.store;
    const disable = (disabled_at: string | null) =>
      db.updateTable('users').set({ disabled_at }).where('id', '=', desk.userId).execute();
    await disable(new Date().toISOString());
    await answers();
    await disable(null);
    const [channel] = (await desk.ask('GET', '/api/channels')).body.channels;
    await desk.ask('DELETE', `/api/channels/${channel.id}`);
    await answers();
    // The typed one is the same event both times, so it is answered once.
    const texts = (await desk.inSlack(4)).slice(1).map(({ text }) => String(text).split('.')[0]);
    const unlinked = 'This chat is not linked to an account, so messages here are ignored';
    expect(new Set(texts)).to.equal(new Set([unlinked]));
    expect((await approval(id)).status).to.equal('pending');
  });

  it('are too late once they are over, and say so', async () => {
    await inTelegram();
    const id = await askApproval(desk, desk.userId);
    const [call] = await desk.inTelegram(1);
    const past = new Date(desk.now() - 1000).toISOString();
    const { db } = desk.app.store;
    await db.updateTable('approvals').set({ expires_at: past }).where('id', '=', id).execute();
    const { body } = await desk.toMessenger(telegram.pressed(1, keysOf(call)[0] ?? ''));
    expect(body.text).to.match(/^The approval was already expired at .*/);
    expect((await approval(id)).status).to.equal('expired');
  });

  it('are decided once, of many answers at once from everywhere', async () => {
    await inSlack();
    await inTelegram();
    const id = await askApproval(desk, desk.userId);
    // The first tells of the other channel.
    const [, call] = await desk.inSlack(2);
    const [approve, deny] = slack.buttonsOf(call);
    const { digest } = await approval(id);
    if (!approve || !deny) throw new Error('No buttons');
    await Promise.all([
      desk.toTeamchat(slack.pressed(approve, desk.now())),
      desk.toTeamchat(slack.pressed(deny, desk.now() + 1)),
      desk.toMessenger(telegram.written(1, `approve ${digest}`)),
      desk.toMessenger(telegram.written(2, `deny ${digest}`)),
      desk.ask('POST', '/api/chat/approve', { approvalId: id, approved: false, digest }),
    ]);
    const { status } = await approval(id);
    const entries = await desk.audited('approvals.approve');
    const ok = entries.filter(({ outcome }: { outcome: string }) => outcome === 'ok');
    expect([ok.length, ok[0].data.approved]).to.equal([1, status === 'approved']);
  });
});
