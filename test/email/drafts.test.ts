import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe(`drafts of e-mails${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (missing) return;
    stage = await openMailStage();
    await stage.account('ada');
  });
  after(() => stage?.stop());

  const call = (method: string, path = '', body?: object, by?: string) =>
    stage.call(method, `/api/email/drafts${path}`, body, by);
  const keep = async (body: object): Promise<string> => {
    const kept = await call('POST', '', body);
    expect(kept.status, kept.text).to.equal(201);
    return kept.body.id;
  };
  const sentOf = (id: string) =>
    until(
      async () => (await stage.call('GET', `/api/email/sent/${id}`)).body,
      ({ status }) => status !== 'queued' && status !== 'sending',
    );

  it('are kept as they are, changed, and deleted', IF_INSTALLED, async () => {
    const id = await keep({ subject: 'Half' });
    const { body } = await call('GET', `/${id}`);
    expect(body).to.include({
      ...{ id, accountId: null, subject: 'Half', text: '', html: null, inReplyTo: null },
      ...{ to: [], cc: [], bcc: [], attachments: [], untrusted: false },
    });
    const changed = await call('PATCH', `/${id}`, { to: ['bob@example.org'], text: 'More' });
    expect([changed.status, changed.body.to, changed.body.text, changed.body.subject]).to.equal([
      ...[200, ['bob@example.org'], 'More', 'Half'],
    ]);
    expect((await call('GET')).body.drafts.map((draft: { id: string }) => draft.id)).to.equal([id]);
    expect((await call('PATCH', `/${id}`, { subject: 'a\nb' })).body.details[0].path).to.equal(
      'subject',
    );
    expect((await call('PATCH', `/${id}`, {})).status).to.equal(400);
    const bob = await stage.app.register('bob');
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/send'],
    ]) {
      const body = method === 'PATCH' ? { text: 'x' } : undefined;
      const foreign = await call(method ?? '', `/${id}${path}`, body, bob.token);
      expect(foreign.status, `${method} ${path}`).to.equal(404);
    }
    expect((await call('DELETE', `/${id}`)).status).to.equal(204);
    expect((await call('GET', `/${id}`)).status).to.equal(404);
  });

  it(
    'are sent once, also by two at the same time, and are drafts no more',
    IF_INSTALLED,
    async () => {
      const id = await keep({ to: ['bob@example.org'], subject: 'Once', text: 'It is done.' });
      const both = await Promise.all([call('POST', `/${id}/send`), call('POST', `/${id}/send`)]);
      const begun = both.find(({ status }) => status === 202);
      const other = both.find((reply) => reply !== begun);
      expect([404, 409]).to.include(other?.status);
      const mail = await sentOf(begun?.body.id);
      expect([mail.status, mail.subject, mail.recipients[0].address]).to.equal([
        ...['sent', 'Once', 'bob@example.org'],
      ]);
      const count = stage.smtp.taken.filter(({ text }) => text.includes('Subject: Once'));
      expect(count.length).to.equal(1);
      expect((await call('GET', `/${id}`)).status).to.equal(404);
    },
  );

  it('are sent as they were seen, or not at all', IF_INSTALLED, async () => {
    const id = await keep({ to: ['bob@example.org'], subject: 'Seen', text: 'Before' });
    const { updatedAt } = (await call('GET', `/${id}`)).body;
    stage.clock.forward(1000);
    const changed = await call('PATCH', `/${id}`, { to: ['eve@evil.example'] });
    const seen = (at: string) => call('POST', `/${id}/send?updatedAt=${encodeURIComponent(at)}`);
    expect((await seen(updatedAt)).status).to.equal(409);
    expect((await call('GET', `/${id}`)).status).to.equal(200);
    const begun = await seen(changed.body.updatedAt);
    expect(begun.status).to.equal(202);
    expect((await sentOf(begun.body.id)).recipients[0].address).to.equal('eve@evil.example');
  });

  it('that answer have the recipient and the subject of an answer', IF_INSTALLED, async () => {
    const asked = [
      'From: Bob <bob@example.test>',
      'Reply-To: list@example.test, not an address',
      'To: ada@example.test',
      'Subject: Figures =?utf-8?q?=0Aof?= May',
      'Message-ID: <asked@example.test>',
      '',
      'Where are they?',
    ];
    await stage.dovecot.deliver('ada', asked.join('\r\n'));
    const found = (await stage.call('GET', '/api/email/messages?q=Where')).body.messages[0];
    const id = await keep({ inReplyTo: found.id, text: 'Here.' });
    const { body } = await call('GET', `/${id}`);
    expect(body).to.include({ to: ['list@example.test'], subject: 'Re: Figures of May' });
    const other = await keep({ inReplyTo: found.id, cc: ['eve@example.test'], subject: 'Own' });
    expect((await call('GET', `/${other}`)).body).to.include({
      ...{ to: ['list@example.test'], cc: ['eve@example.test'], subject: 'Own' },
    });
    const begun = await call('POST', `/${id}/send`);
    expect((await sentOf(begun.body.id)).inReplyTo).to.equal('<asked@example.test>');
    // Sent without a draft, an answer needs no subject either, and names who gets it.
    const to = ['bob@example.test'];
    const answer = { to, inReplyTo: found.id, text: 'Here again.' };
    const direct = await stage.call('POST', '/api/email/send', answer);
    expect((await sentOf(direct.body.id)).subject).to.equal('Re: Figures of May');
    const bare = await stage.call('POST', '/api/email/send', { to, text: 'x' });
    expect([bare.status, bare.body.details[0].path]).to.equal([400, 'subject']);
    const nobody = await stage.call('POST', '/api/email/send', { inReplyTo: found.id, text: 'x' });
    expect([nobody.status, nobody.body.details[0].path]).to.equal([400, 'to']);
  });

  it('name nothing that their owner does not have', IF_INSTALLED, async () => {
    const id = await keep({ subject: 'Whole' });
    const { token } = await stage.app.register('dora');
    const [mail] = (await stage.call('GET', '/api/email/messages')).body.messages;
    for (const [path, body] of Object.entries({
      inReplyTo: { inReplyTo: mail.id.slice(-6) },
      'attachments.0': { attachments: ['document_none'] },
      accountId: { accountId: 'mailaccount_none' },
    })) {
      for (const refused of [await call('POST', '', body), await call('PATCH', `/${id}`, body)]) {
        expect([refused.status, refused.body.details[0].path]).to.equal([400, path]);
      }
    }
    const foreign = await call('POST', '', { inReplyTo: mail.id }, token);
    expect([foreign.status, foreign.body.details[0].path]).to.equal([400, 'inReplyTo']);
    expect((await call('GET', `/${id}`)).body).to.include({ inReplyTo: null, attachments: [] });
  });

  it('stay where they cannot be sent', IF_INSTALLED, async () => {
    const id = await keep({ subject: 'To nobody', text: 'x' });
    const refused = await call('POST', `/${id}/send`);
    expect([refused.status, refused.body.details[0].path]).to.equal([400, 'to']);
    await call('PATCH', `/${id}`, { to: ['bob@example.org'] });
    const { token } = await stage.app.register('carol');
    const own = await call('POST', '', { to: ['bob@example.org'], subject: 'Hi' }, token);
    const forbidden = await call('POST', `/${own.body.id}/send`, undefined, token);
    expect([forbidden.status, forbidden.body.code]).to.equal([403, 'permission_missing']);
    expect((await call('GET', `/${own.body.id}`, undefined, token)).status).to.equal(200);
    expect((await call('GET', `/${id}`)).status).to.equal(200);
  });
});
