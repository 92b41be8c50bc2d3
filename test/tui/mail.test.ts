import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  ApiError,
  type Client,
  contracts,
  type MailAccount,
  type MailDraft,
  type MailMessage,
  type MailMessageDetail,
  type SentMail,
} from '../../src/client/index.js';
import { type ActVerb, actForKey } from '../../tui/keys.js';
import { drawRow } from '../../tui/parts/row.js';
import { mailPage } from '../../tui/screens/mail/mail.js';
import { messagePage } from '../../tui/screens/mail/message.js';
import { threadPage } from '../../tui/screens/mail/messages.js';
import { sentMailPage } from '../../tui/screens/mail/sentmail.js';
import type { Act } from '../../tui/state/act.js';
import { loaders } from '../../tui/state/loaders.js';
import { mailQuery } from '../../tui/state/mailquery.js';
import type { State, StateAction } from '../../tui/state/state.js';
import { createTheme } from '../../tui/theme.js';
import { known, listLoaded, NOW, shown } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const EVIL = '\u001b[2J\u009b31mPay\r\nBcc: all\u202e\u0007';

const aMail = (over: Partial<MailMessage> = {}): MailMessage => ({
  ...{ id: 'mail_1', accountId: 'mailaccount_1', folder: 'INBOX', messageId: '<1@x>' },
  ...{ threadId: 't1', from: { name: 'Bob', address: 'bob@example.org' }, cc: [] },
  ...{ to: [{ name: '', address: 'ada@example.org' }], subject: 'The report', date: ago(5) },
  ...{ snippet: 'It is done.', unread: true, flagged: false, attachments: [] },
  attachmentsOmitted: 0,
  ...{ category: 'work', priority: 1, authentication: null },
  ...over,
});

const aWholeMail = (over: Partial<MailMessageDetail> = {}): MailMessageDetail => ({
  ...aMail({ attachments: [{ name: 'a.pdf', mediaType: 'application/pdf', bytes: 2048 }] }),
  ...{ replyTo: [], references: [], text: 'First line.\nSecond line.', html: null },
  ...{ isCut: false, problem: null, listUnsubscribe: null },
  ...{ authentication: { spf: 'pass', dkim: 'fail', dmarc: 'none' } },
  ...over,
});

const aDraft = (over: Partial<MailDraft> = {}): MailDraft => ({
  ...{
    id: 'maildraft_1',
    accountId: null,
    to: ['bob@example.org'],
    cc: [],
    bcc: ['c@example.org'],
  },
  ...{ subject: 'Re: The report', text: 'Thank you.', html: null, inReplyTo: null },
  ...{ attachments: [], untrusted: false, createdAt: ago(9), updatedAt: ago(9) },
  ...over,
});

const aSent = (over: Partial<SentMail> = {}): SentMail => ({
  ...{ id: 'sentmail_1', accountId: 'mailaccount_1', messageId: '<2@x>', status: 'unknown' },
  recipients: [
    { address: 'bob@example.org', place: 'to', status: 'sent', reply: '250 ok' },
    { address: 'c@example.org', place: 'bcc', status: 'refused', reply: '550 no such user' },
  ],
  ...{ subject: 'Minutes', inReplyTo: null, attachments: [], attempts: 1, nextAt: null },
  ...{ error: null, copy: 'none', createdAt: ago(60), finishedAt: ago(59) },
  ...over,
});

const server = { host: 'mail.example.org', port: 993, tls: 'implicit' } as const;
const anAccount = (over: Partial<MailAccount> = {}): MailAccount => ({
  ...{ id: 'mailaccount_1', address: 'ada@example.org', name: 'Ada', imap: server, smtp: server },
  ...{ auth: 'password', username: 'ada', credentialId: 'credential_1', folders: ['INBOX'] },
  ...{ watch: true, syncDays: 90, saveSent: false, authservId: null, status: 'failing' },
  ...{ lastSyncAt: ago(180), error: 'the server hangs', createdAt: ago(999), updatedAt: ago(9) },
  ...over,
});

const onTab = (tab: number, ...loaded: StateAction[]): State =>
  known([{ type: 'ui.root', root: 'mail' }, ...loaded, { type: 'ui.looked', change: { tab } }]);
const onMessage = (mail: MailMessageDetail): State =>
  known([
    { type: 'ui.root', root: 'mail' },
    { type: 'ui.opened', place: { page: 'message', id: mail.id } },
    ...listLoaded('wholeMails', [mail], mail.id),
  ]);
const screen = (state: State): string[] => shown(mailPage.view, state, 80, 19);
const actIn = (state: State, verb: ActVerb): Act => {
  const act = mailPage.acts?.(state)[verb];
  if (!act) throw new Error(`no ${verb}`);
  return act;
};

describe('mail on the desk', () => {
  it('lists e-mails with what is known of the selected one', () => {
    const mails = [aMail(), aMail({ id: 'mail_2', from: null, subject: '', unread: false })];
    const state = onTab(0, ...listLoaded('mails', mails));
    const rows = screen(state);
    expect(rows.slice(0, 5)).to.equal([
      '[Messages] Drafts Sent Accounts',
      '',
      '  STATE  FROM                  SUBJECT            AGO  CATEGORY  PRIORITY  FILES',
      '> new    Bob <bob@example.or…  The report          5m  work',
      '  read   -                     (no subject)        5m  work',
    ]);
    expect(rows.join('\n')).to.contain('not verified: the mail server reported no result');
    expect(mailPage.summary?.(state)).to.equal('2 e-mails, 1 new');
    expect(mailPage.opens?.(state)).to.equal({ page: 'message', id: 'mail_1' });
    expect(mailPage.line?.(state)).to.equal('adjutant email get mail_1');
  });

  it('opens an e-mail, with what the server found about its sender, and its files', async () => {
    const state = onMessage(aWholeMail());
    const text = shown(messagePage.view, state, 80, 19).join('\n');
    expect(text).to.contain('spf pass, dkim fail, dmarc none');
    expect(text).to.match(/File 0 +a\.pdf \(application\/pdf, 2 KiB\)/);
    expect(text).to.contain('First line.\nSecond line.');
    expect(text).to.not.contain('Omitted');
    const cut = onMessage(aWholeMail({ attachmentsOmitted: 3 }));
    expect(shown(messagePage.view, cut, 120, 19).join('\n')).to.match(
      /Omitted +Attachments and parts that are not listed: 3\. Open the e-mail in a mail program/,
    );
    const need = { is: 'list' as const, list: 'wholeMails' as const, of: 'mail_1' };
    expect(messagePage.needs(state)).to.equal([need]);
    const client = { mail: { get: async ({ id }: { id: string }) => aWholeMail({ id }) } };
    const { rows } = await loaders.wholeMails.page(client as unknown as Client, { of: 'mail_7' });
    expect(rows.map(({ id }) => id)).to.equal(['mail_7']);
  });

  it('obeys nothing that a mail contains', () => {
    const evil = {
      from: { name: EVIL, address: EVIL },
      ...{ subject: EVIL, snippet: EVIL, folder: EVIL },
      attachments: [{ name: EVIL, mediaType: EVIL, bytes: 1 }],
    };
    const sentTo = { address: 'b@x', place: 'to', status: 'refused', reply: EVIL } as const;
    const states: [State, typeof mailPage][] = [
      [onTab(0, ...listLoaded('mails', [aMail(evil)])), mailPage],
      [onTab(1, ...listLoaded('drafts', [aDraft({ subject: EVIL, text: EVIL })])), mailPage],
      [
        onTab(2, ...listLoaded('sentMails', [aSent({ subject: EVIL, recipients: [sentTo] })])),
        mailPage,
      ],
      [onTab(3, ...listLoaded('mailAccounts', [anAccount({ error: EVIL, name: EVIL })])), mailPage],
      [
        onMessage(aWholeMail({ ...evil, text: EVIL, listUnsubscribe: EVIL, problem: EVIL })),
        messagePage,
      ],
    ];
    const theme = { ...createTheme('mono'), style: (_: unknown, text: string) => text };
    for (const [state, page] of states) {
      for (const row of page.view(state, { width: 80, height: 30 })) {
        expect(drawRow(row, 80, theme)).to.not.match(/\p{Cc}|[\u202a-\u202e]/u);
      }
      const read = (page.cells?.(state) ?? []).length;
      expect(read).to.equal(page === mailPage ? 1 : 0);
    }
    const lines = [
      ...(actIn(onTab(0, ...listLoaded('mails', [aMail(evil)])), 'message').ask?.lines ?? []),
      ...(actIn(onTab(1, ...listLoaded('drafts', [aDraft({ subject: EVIL })])), 'start').ask
        ?.lines ?? []),
    ];
    expect(lines.join('')).to.not.match(/\u001b|[\u202a-\u202e]/u);
  });

  it('keeps an answer as a draft, and sends nothing', async () => {
    const mail = aMail({ subject: 'Two\r\nlines' });
    const act = actIn(onTab(0, ...listLoaded('mails', [mail])), 'message');
    const kept: unknown[] = [];
    const client = { maildrafts: { create: async (input: unknown) => kept.push(input) } };
    expect(await act.call(client as unknown as Client, 'Thank you.')).to.match(
      /^Saved to the drafts/,
    );
    // The daemon knows the recipient and the subject of a reply.
    const body = { inReplyTo: 'mail_1', accountId: 'mailaccount_1', text: 'Thank you.' };
    expect(kept).to.equal([{ body }]);
    const replyTo = [{ name: '', address: 'list@example.org' }];
    const whole = messagePage.acts?.(onMessage(aWholeMail({ replyTo })));
    expect(whole?.message?.ask?.lines).to.equal([
      'Your reply to list@example.org. It is saved as a draft and not sent.',
    ]);
    const { create } = await contracts.maildrafts();
    expect(create.body?.validate({ ...body, inReplyTo: 'x' }).error).to.be.undefined();
  });

  it('asks the mail servers for what is typed, and says so in the line of the CLI', async () => {
    const typed = { type: 'ui.looked' as const, change: { filter: 'is:new category:invoice due' } };
    const state = onTab(0, ...listLoaded('mails', [aMail()]), typed);
    expect(mailPage.isSearched?.(state)).to.be.true();
    expect(mailPage.isSearched?.(onTab(1, typed))).to.be.false();
    const [need] = mailPage.needs(state);
    expect(need).to.equal({
      ...{ is: 'list', list: 'mails', of: 'is:new category:invoice due', afterMs: 500 },
    });
    const down = listLoaded('mailAccounts', [anAccount({ error: 'it hangs' })]);
    const missed = onTab(0, ...listLoaded('mails', []), ...down, typed);
    expect(screen(missed).join('\n')).to.contain('ada@example.org is not up to date: it hangs');
    expect(mailPage.summary?.(missed)).to.contain('1 mailbox not up to date');
    // All rows are search results, whatever they contain.
    expect(screen(state).join('\n')).to.contain('The report');
    const none = onTab(0, ...listLoaded('mails', []), typed);
    expect(mailPage.line?.(none)).to.equal(
      "adjutant email list --unread --category 'invoice' --q 'due'",
    );
    const asked: unknown[] = [];
    const list = async (input: unknown) => {
      asked.push(input);
      return { messages: [aMail()], nextCursor: null };
    };
    const client = { mail: { list } } as unknown as Client;
    await loaders.mails.page(client, { of: 'is:new category:invoice due' });
    await loaders.mails.page(client, { of: '' });
    await loaders.threadMails.page(client, { of: 't1', cursor: 'next' });
    expect(asked).to.equal([
      {
        query: {
          ...{ unread: true, category: 'invoice', q: 'due' },
          ...{ limit: 200, cursor: undefined },
        },
      },
      { query: { limit: 200, cursor: undefined } },
      { query: { thread: 't1', limit: 200, cursor: 'next' } },
    ]);
  });

  it('reads a search as a person means it', () => {
    expect(mailQuery('from:bob has:files the  report')).to.equal({
      ...{ from: 'bob', hasAttachments: true, q: 'the report' },
    });
    expect(mailQuery('folder:Archive category:Work')).to.equal({
      ...{ folder: 'Archive', category: 'work' },
    });
    // Words that are not search operators are searched for.
    expect(mailQuery('category:cats from: http://x.test')).to.equal({
      q: 'category:cats from: http://x.test',
    });
  });

  it('leads from an e-mail to those of its thread, and back to one', () => {
    expect(mailPage.related?.(onTab(0, ...listLoaded('mails', [aMail()])))).to.equal({
      ...{ page: 'thread', id: 't1' },
    });
    expect(messagePage.related?.(onMessage(aWholeMail()))).to.equal({ page: 'thread', id: 't1' });
    const state = known([
      { type: 'ui.root', root: 'mail' },
      { type: 'ui.opened', place: { page: 'thread', id: 't1' } },
      ...listLoaded('threadMails', [aMail(), aMail({ id: 'mail_2', subject: 'Re' })], 't1'),
    ]);
    expect(threadPage.needs(state)).to.equal([{ is: 'list', list: 'threadMails', of: 't1' }]);
    expect(threadPage.items?.(state).map(({ id }) => id)).to.equal(['mail_1', 'mail_2']);
    expect(threadPage.opens?.(state)).to.equal({ page: 'message', id: 'mail_1' });
  });

  it('keeps the files of an e-mail after a question that names them', async () => {
    const file = { name: EVIL, mediaType: 'text/csv', bytes: 1 };
    const mail = aWholeMail({ attachments: Array.from({ length: 12 }, () => file) });
    const act = messagePage.acts?.(onMessage(mail)).add;
    const lines = act?.ask?.lines ?? [];
    expect([lines[0], lines.length, lines.at(-1)]).to.equal([
      ...['Keep these 12 files as documents?', 12, '  and 2 more'],
    ]);
    expect(lines.join('')).to.not.match(/\p{Cc}|[\u202a-\u202e]/u);
    const kept: unknown[] = [];
    const keep = async (input: { number: string }) => {
      kept.push(input);
      if (input.number === '0') {
        const body = { statusCode: 400, error: 'Bad Request', message: 'no', requestId: 'r' };
        throw new ApiError(body);
      }
      return { duplicate: input.number === '3' };
    };
    expect(await act?.call({ mail: { keep } } as unknown as Client, '')).to.equal({
      message: 'Kept: 10, 1 already kept, 1 cannot be kept',
      tone: 'warn',
    });
    expect(kept).to.equal(mail.attachments.map((_, at) => ({ id: 'mail_1', number: String(at) })));
    expect(messagePage.acts?.(onMessage(aWholeMail({ attachments: [] }))).add).to.be.undefined();
  });

  it('makes a task of an e-mail, in the words of the person', async () => {
    const mail = aWholeMail({ subject: EVIL });
    const states = [onTab(0, ...listLoaded('mails', [mail])), onMessage(mail)];
    for (const [at, page] of [mailPage, messagePage].entries()) {
      const act = page.acts?.(states[at] ?? states[0] ?? onTab(0)).mark;
      expect(act?.ask?.writes).to.be.true();
      expect(act?.ask?.lines.join('')).to.not.match(/\p{Cc}|[\u202a-\u202e]/u);
      const made: unknown[] = [];
      const create = async (input: { body: { title: string } }) => {
        made.push(input);
        return input.body;
      };
      const client = { tasks: { create } } as unknown as Client;
      expect(await act?.call(client, ' Pay it\nby Friday\n')).to.equal('Created: Pay it');
      expect(made).to.equal([
        { body: { title: 'Pay it', notes: 'by Friday\nadjutant email get mail_1' } },
      ]);
    }
  });

  it('processes the new mail of an account, and leads to the operation', async () => {
    const begun: unknown[] = [];
    const process = async (input: unknown) => {
      begun.push(input);
      return { id: 'operation_1' };
    };
    const act = actIn(onTab(3, ...listLoaded('mailAccounts', [anAccount()])), 'check');
    expect(act.line).to.equal('adjutant email process --account mailaccount_1');
    expect(await act.call({ mailprocessing: { process } } as unknown as Client, '')).to.equal({
      message: 'New mail of ada@example.org is being processed',
      opens: { page: 'operation', id: 'operation_1' },
    });
    expect(begun).to.equal([{ body: { accountId: 'mailaccount_1' } }]);
  });

  it('says the priority of an e-mail in the list', () => {
    const mails = [aMail({ priority: 3 }), aMail({ id: 'mail_2', priority: 0 })];
    const rows = shown(mailPage.view, onTab(0, ...listLoaded('mails', mails)), 80, 19);
    expect(rows[2]).to.match(/CATEGORY +PRIORITY/);
    expect([rows[3], rows[4]].map((row) => /work +(urgent|low)/.exec(row ?? '')?.[1])).to.equal([
      'urgent',
      'low',
    ]);
  });

  it('sends a draft after a question that names all who get it', async () => {
    const draft = aDraft({ untrusted: true });
    const state = onTab(1, ...listLoaded('drafts', [draft]));
    const act = actIn(state, 'start');
    expect(act.ask).to.equal({
      lines: [
        'Send "Re: The report", exactly as shown above?',
        '  to bob@example.org, c@example.org',
        'UNTRUSTED: an agent wrote the draft after reading external text.',
      ],
      deadMs: 700,
    });
    const called: unknown[] = [];
    const client = {
      maildrafts: { send: async (given: object) => called.push(given) },
    } as unknown as Client;
    expect(await act.call(client, '')).to.match(/^Sending/);
    // The daemon refuses it if the draft has changed since it was shown.
    expect(called).to.equal([{ id: 'maildraft_1', query: { updatedAt: draft.updatedAt } }]);
    expect(actIn(state, 'delete').ask?.lines[0]).to.contain('no undo');
  });

  it('does not send to more recipients than the question can name', () => {
    const to = Array.from({ length: 90 }, (_, at) => `recipient-number-${at}@example.org`);
    const many = actIn(onTab(1, ...listLoaded('drafts', [aDraft({ to })])), 'start');
    expect(many.refusal).to.equal(
      'Too many recipients to show here. Use: adjutant email drafts send maildraft_1',
    );
    const few = actIn(onTab(1, ...listLoaded('drafts', [aDraft()])), 'start');
    expect(few.refusal).to.be.undefined();
  });

  it('cancels a mail that waits, and no other', async () => {
    const at = (status: SentMail['status']) =>
      onTab(2, ...listLoaded('sentMails', [aSent({ status })]));
    const act = actIn(at('queued'), 'stop');
    expect(act.ask?.lines).to.equal(['Cancel "Minutes"? Copies already delivered stay.']);
    const called: unknown[] = [];
    const client = {
      sentmail: { cancel: async (given: object) => called.push(given) },
    } as unknown as Client;
    expect(await act.call(client, '')).to.equal('Cancelled');
    expect(called).to.equal([{ id: 'sentmail_1' }]);
    for (const status of ['sending', 'sent', 'failed', 'unknown'] as const) {
      expect(Object.keys(mailPage.acts?.(at(status)) ?? {}), status).to.not.include('stop');
    }
  });

  it('shows what became of each recipient', () => {
    const rows = screen(onTab(2, ...listLoaded('sentMails', [aSent()]))).join('\n');
    expect(rows).to.match(/> unknown +bob@example\.org, c@example\.org +Minutes/);
    expect(rows).to.match(/To +bob@example\.org: sent, the mail server accepted it/);
    expect(rows).to.match(/Bcc +c@example\.org: refused, did not receive it: 550 no such user/);
    expect(rows.replace(/\s+/g, ' ')).to.contain('It is not resent automatically');
    const partly = onTab(2, ...listLoaded('sentMails', [aSent({ status: 'sent' })]));
    const words = screen(partly).join('\n');
    expect(words).to.match(/> sent, 1 failed +bob@example\.org/);
    expect(words).to.match(/Status +sent: only 1 of 2 recipients received it/);
  });

  it('opens a sent e-mail with its text, as it is now', async () => {
    const list = onTab(2, ...listLoaded('sentMails', [aSent()]));
    expect(mailPage.opens?.(list)).to.equal({ page: 'sentmail', id: 'sentmail_1' });
    const whole = {
      ...aSent({ subject: EVIL, status: 'queued' }),
      html: '<p>',
      text: `One\n${EVIL}`,
    };
    const state = known([
      { type: 'ui.root', root: 'mail' },
      { type: 'ui.opened', place: { page: 'sentmail', id: whole.id } },
      ...listLoaded('wholeSentMails', [whole], whole.id),
    ]);
    const text = shown(sentMailPage.view, state, 80, 30).join('\n');
    expect(text).to.contain('has an HTML version, which is not shown here');
    expect(text).to.match(/Status +queued: 1 of 2 recipients have received it yet/);
    expect(text).to.contain('\nOne\n');
    for (const row of sentMailPage.view(state, { width: 80, height: 30 })) {
      const theme = { ...createTheme('mono'), style: (_: unknown, text: string) => text };
      expect(drawRow(row, 80, theme)).to.not.match(/\p{Cc}|[\u202a-\u202e]/u);
    }
    expect(sentMailPage.line?.(state)).to.equal('adjutant email sent get sentmail_1');
    expect(actForKey('mail', 'x')).to.equal('stop');
    expect(actForKey('sentmail', 'x')).to.equal('stop');
    expect(sentMailPage.acts?.(state).stop?.line).to.equal('adjutant email sent cancel sentmail_1');
    const client = { sentmail: { get: async ({ id }: { id: string }) => ({ ...whole, id }) } };
    const { rows } = await loaders.wholeSentMails.page(client as unknown as Client, { of: 'x' });
    expect(rows.map(({ id }) => id)).to.equal(['x']);
  });

  it('shows the accounts, and names the step of a test that fails', async () => {
    const state = onTab(3, ...listLoaded('mailAccounts', [anAccount()]));
    expect(screen(state).join('\n')).to.match(/> failing +ada@example\.org +3h/);
    const steps = [{ step: 'smtp_login', status: 'failed', detail: '535 no', durationMs: 1 }];
    const client = { mailaccounts: { test: async () => ({ ok: false, steps }) } };
    expect(await actIn(state, 'test').call(client as unknown as Client, '')).to.equal({
      message: 'Failed at: log in to send: 535 no',
      tone: 'danger',
    });
  });
});
