import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const mail = (...lines: string[]): string => lines.join('\r\n');
const plain = (subject: string, text: string, ...fields: string[]): string =>
  mail(
    ...['From: Bob <bob@example.org>', `Subject: ${subject}`, 'To: ada@example.test'],
    ...[`Message-ID: <${subject.replace(/\W/g, '')}@example.org>`],
    ...['Date: Fri, 30 Jan 2026 09:00:00 +0000', ...fields, '', text, ''],
  );

const RICH = mail(
  'From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>',
  'To: Ada <ada@example.test>, "Bob, B." <bob@example.org>',
  'Subject: =?utf-8?b?UmVjaG51bmcg4oKs?=',
  'Message-ID: <rich@example.org>',
  'In-Reply-To: <first@example.org>',
  'References: <root@example.org> <first@example.org>',
  'List-Unsubscribe: <https://tracker.invalid/unsubscribe>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=outer',
  '',
  '--outer',
  'Content-Type: multipart/alternative; boundary=inner',
  '',
  '--inner',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Gr=FC=DFe aus K=F6ln',
  '--inner',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p onclick="steal()">Hello <b>you</b></p><script>alert(1)</script>',
  '<img src="https://tracker.invalid/pixel.png" alt="Logo"><style>p{background:url(https://tracker.invalid/x)}</style>',
  '<a href="https://evil.invalid/login">https://bank.example</a><a href="javascript:alert(1)">x</a>',
  '<iframe src="https://tracker.invalid"></iframe><form action="https://tracker.invalid"><input></form>',
  '--inner--',
  '--outer',
  'Content-Type: application/pdf; name="../../etc/report.pdf"',
  'Content-Disposition: attachment; filename="../../etc/report.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('%PDF-1.4 nothing').toString('base64'),
  '--outer--',
  '',
);

describe(`e-mails${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (!missing) stage = await openMailStage();
  });
  after(() => stage?.stop());

  const open = async (name: string, ...messages: string[]): Promise<string> => {
    for (const message of messages) await stage.dovecot.deliver(name, message);
    return (await stage.account(name)).body.id;
  };
  const list = async (accountId: string, query = '') => {
    // What was brought up to date a moment ago is not asked for again.
    stage.clock.forward(5000);
    return (await stage.call('GET', `/api/email/messages?accountId=${accountId}${query}`)).body
      .messages;
  };
  const read = async (id: string) => (await stage.call('GET', `/api/email/messages/${id}`)).body;
  /** The files of a mailbox, whose names hold the flags, and where they lie. */
  const files = async (name: string): Promise<string[]> => {
    const place = stage.dovecot.maildir(name);
    const found = ['new', 'cur'].map(async (part) =>
      (await readdir(join(place, part))).map((file) => `${part}/${file}`),
    );
    return (await Promise.all(found)).flat().sort();
  };

  it('reads a message, and changes nothing at the server', IF_INSTALLED, async () => {
    const id = await open('reader', RICH, plain('One', 'The first.'));
    const before = await files('reader');
    const [newest, rich] = await list(id);
    expect(newest).to.include({
      subject: 'One',
      unread: true,
      snippet: 'The first.',
      folder: 'INBOX',
    });
    expect(rich).to.include({ subject: 'Rechnung €', category: 'invoice', authentication: null });
    expect(rich.from).to.equal({ name: 'Jürgen', address: 'j@example.org' });
    expect(rich.to[1]).to.equal({ name: 'Bob, B.', address: 'bob@example.org' });
    expect(rich.attachments.length).to.equal(1);
    const whole = await read(rich.id);
    expect(whole.text.trim()).to.equal(
      'Grüße aus Köln\n\nHello you\nhttps://bank.example <https://evil.invalid/login>x',
    );
    expect(whole.text).to.not.contain('\r');
    expect(whole).to.include({ isCut: false, problem: null });
    expect(whole.references).to.equal(['<root@example.org>', '<first@example.org>']);
    expect(whole.listUnsubscribe).to.equal('<https://tracker.invalid/unsubscribe>');
    const path = `/api/email/messages/${rich.id}/attachments/0`;
    const file = await stage.call('GET', path);
    expect([file.status, file.text]).to.equal([200, '%PDF-1.4 nothing']);
    expect(file.headers['content-disposition']).to.not.include('/');
    expect((await stage.call('GET', path.replace(/0$/, '1'))).status).to.equal(404);
    const kept = await stage.call('POST', `${path}/document`);
    expect([kept.status, kept.body.duplicate]).to.equal([201, false]);
    const again = await stage.call('POST', `${path}/document`);
    expect(again.body).to.equal({ ...kept.body, duplicate: true });
    const original = `/api/documents/${kept.body.documentId}/content`;
    expect((await stage.call('GET', original)).text).to.equal('%PDF-1.4 nothing');
    const missing = await stage.call('POST', `${path.replace(/0$/, '1')}/document`);
    expect(missing.status).to.equal(404);
    await list(id, '&q=Köln');
    expect(await files('reader')).to.equal(before);
    expect((await list(id)).map((each: { unread: boolean }) => each.unread)).to.equal([true, true]);
  });

  it('shows HTML that fetches nothing, and where links lead', IF_INSTALLED, async () => {
    const id = await open('html', RICH);
    const [{ id: mailId }] = await list(id);
    const { html } = await read(mailId);
    expect(html).to.include('<p>Hello <b>you</b></p>');
    expect(html).to.include('[Logo]');
    expect(html).to.include('href="https://evil.invalid/login" title="https://evil.invalid/login"');
    expect(html).to.not.match(
      /tracker\.invalid|javascript:|<script|<img|<iframe|<form|onclick|style/,
    );
  });

  it('trusts what the server of the account wrote, and nothing below', IF_INSTALLED, async () => {
    const from = 'Received: from evil.example ([9.9.9.9]) by mx.example.test; x';
    const pass = 'Authentication-Results: mx.example.test; spf=pass; dkim=pass; dmarc=pass';
    const fail = 'Authentication-Results: mx.example.test; spf=fail; dkim=none; dmarc=fail';
    const other = 'Authentication-Results: evil.example; spf=pass; dkim=pass; dmarc=pass';
    const top = (fields: string[], subject: string) => mail(...fields, plain(subject, 'x'));
    const id = await open('trust');
    await stage.call('POST', `/api/email/accounts/${id}/test`);
    for (const message of [
      top([pass, from], 'Right'),
      top([fail, from, pass], 'Forged below'),
      top([from, pass], 'Forged alone'),
      top([other, from], 'Of another'),
    ]) {
      await stage.dovecot.deliver('trust', message);
    }
    stage.clock.forward(60_000);
    const found = await list(id);
    const results = Object.fromEntries(
      found.map(({ subject, authentication }: { subject: string; authentication: unknown }) => [
        subject,
        authentication,
      ]),
    );
    expect(results).to.include({
      Right: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
      'Forged below': { spf: 'fail', dkim: 'none', dmarc: 'fail' },
      'Forged alone': null,
      'Of another': null,
    });
  });

  it(
    'filters, pages, searches at the server and keeps threads together',
    IF_INSTALLED,
    async () => {
      const id = await open(
        'filter',
        plain('Root', 'Begin.'),
        plain('Re Root', 'More.', 'References: <Root@example.org>'),
        plain('Other', 'A needle in it.', 'From: Carol <carol@example.net>'),
      );
      const subjects = async (query: string) =>
        (await list(id, query)).map(({ subject }: { subject: string }) => subject);
      expect(await subjects('')).to.equal(['Other', 'Re Root', 'Root']);
      expect(await subjects('&q=needle')).to.equal(['Other']);
      expect(await subjects('&q=nothing-of-that')).to.equal([]);
      expect(await subjects('&unread=false')).to.equal([]);
      expect(await subjects('&hasAttachments=true')).to.equal([]);
      expect(await subjects('&since=2026-01-31')).to.equal([]);
      const all = await list(id);
      expect(all[1].threadId).to.equal(all[2].threadId);
      expect(all[0].threadId).to.not.equal(all[2].threadId);
      expect(await subjects(`&thread=${all[2].threadId}`)).to.equal(['Re Root', 'Root']);
      const path = `/api/email/messages?accountId=${id}&limit=2`;
      const first = await stage.call('GET', path);
      expect(first.body.messages.length).to.equal(2);
      const next = await stage.call('GET', `${path}&cursor=${first.body.nextCursor}`);
      expect(next.body.messages.map(({ subject }: { subject: string }) => subject)).to.equal([
        'Root',
      ]);
    },
  );

  it('follows what others do there: arrivals, flags, deletions', IF_INSTALLED, async () => {
    const id = await open('follow', plain('One', 'x'), plain('Two', 'x'));
    expect((await list(id)).length).to.equal(2);
    const place = stage.dovecot.maildir('follow');
    const [first = '', second = ''] = await files('follow');
    await rename(
      join(place, first),
      join(place, 'cur', `${first.split('/')[1]?.split(':')[0]}:2,FS`),
    );
    await rm(join(place, second));
    await stage.dovecot.deliver('follow', plain('Three', 'x'));
    const now = await list(id);
    expect(
      now.map(({ subject, unread, flagged }: Record<string, unknown>) => [
        subject,
        unread,
        flagged,
      ]),
    ).to.equal([
      ['Three', true, false],
      ['One', false, true],
    ]);
  });

  it('shows what it has kept while the server is away', IF_INSTALLED, async () => {
    const id = await open('away', plain('Kept', 'The beginning of it.'));
    const [{ id: mailId }] = await list(id);
    const imap = { ...stage.servers.imap, host: 'nowhere.invalid' };
    await stage.call('PATCH', `/api/email/accounts/${id}`, { imap });
    expect((await list(id)).length).to.equal(1);
    const whole = await read(mailId);
    expect(whole).to.include({ text: 'The beginning of it.', isCut: true });
    expect(whole.problem).to.include('does not resolve');
    const { body } = await stage.call('GET', `/api/email/accounts/${id}`);
    expect(body.status).to.equal('failing');
    const folders = await stage.call('GET', `/api/email/accounts/${id}/folders`);
    expect(folders.body.problem).to.include('does not resolve');
    expect(folders.body.folders).to.equal([
      { name: 'INBOX', use: null, messages: null, unread: null },
    ]);
  });

  it('lists the folders, and reads another one', IF_INSTALLED, async () => {
    const id = await open('folders', plain('In', 'x'));
    await stage.dovecot.deliver('folders', plain('Elsewhere', 'x'), 'Junk');
    const { body } = await stage.call('GET', `/api/email/accounts/${id}/folders`);
    expect(body.folders).to.include([
      { name: 'INBOX', use: 'inbox', messages: 1, unread: 1 },
      { name: 'Junk', use: 'junk', messages: 1, unread: 1 },
      { name: 'Sent', use: 'sent', messages: 0, unread: 0 },
    ]);
    expect(
      (await list(id, '&folder=Junk')).map(({ subject }: { subject: string }) => subject),
    ).to.equal(['Elsewhere']);
    for (const more of ['', '&q=x']) {
      const path = `/api/email/messages?accountId=${id}&folder=Nope${more}`;
      const { status, body: refused } = await stage.call('GET', path);
      expect([status, refused.details?.[0].path, refused.details?.[0].message]).to.equal([
        ...[400, 'folder', 'does not match any folder of your mail accounts'],
      ]);
    }
  });

  it('bears odd messages', IF_INSTALLED, async () => {
    const id = await open(
      'odd',
      '',
      'no header at all',
      mail('Subject: \u202egnp.exe', 'Date: never', '', 'x'),
      mail('From: ', 'To: ,,,', 'Content-Type: text/plain; charset=x-unknown', '', '\xe4\xf6'),
      mail(
        'Content-Type: multipart/mixed; boundary=a',
        '',
        '--a',
        'Content-Type: multipart/mixed; boundary=a',
        '',
        '--a',
      ),
      mail('Subject: Spam', 'X-Spam-Flag: YES', 'Date: Fri, 30 Jan 9999 09:00:00 +0000', '', 'x'),
      plain('Long', 'word '.repeat(200_000)),
    );
    const found = await list(id);
    expect(found.length).to.equal(7);
    for (const { id: mailId } of found) {
      const { status } = await stage.call('GET', `/api/email/messages/${mailId}`);
      expect(status).to.equal(200);
    }
    const long = found.find(({ subject }: { subject: string }) => subject === 'Long');
    expect((await read(long.id)).isCut).to.be.true();
    const turned = found.find(({ subject }: { subject: string }) => subject.includes('gnp'));
    expect(turned.subject).to.equal('gnp.exe');
  });

  it('keeps ids when the validity of a folder changes', IF_INSTALLED, async () => {
    const id = await open('validity', plain('Same', 'x'));
    const [first] = await list(id);
    await stage.dovecot.forgetUids('validity');
    const [again, ...more] = await list(id);
    expect([again.id, more.length]).to.equal([first.id, 0]);
  });
});
