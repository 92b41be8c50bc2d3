import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, until } from '../harness/app.js';
import { MAILBOX } from '../harness/mail/dovecot.js';
import type { TakenMail } from '../harness/mail/smtp.js';
import { upload } from '../harness/upload.js';
import {
  IF_INSTALLED,
  type MailStage,
  missing,
  openMailStage,
  skipNote,
  smtpError,
  statuses,
} from './stage.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const HOUR_MS = 3600_000;

/** The lines of the header of a message, unfolded, by their names in lower case. */
const headersOf = ({ text }: TakenMail): Map<string, string> => {
  const head = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  return new Map(
    head.split('\r\n').map((line): [string, string] => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    }),
  );
};

describe(`the sending of e-mails${skipNote}`, () => {
  let stage: MailStage;
  let token: string;
  before(async () => {
    if (missing) return;
    stage = await openMailStage({ emailPerHour: 40 });
    expect((await stage.account('ada', { name: 'Ada L.' })).status).to.equal(201);
  });
  beforeEach(async () => {
    if (!missing) token = await loggedIn();
  });
  afterEach(() => {
    if (missing) return;
    stage.smtp.isRight = () => true;
    stage.smtp.recipient = () => undefined;
    stage.smtp.arrived = () => undefined;
    stage.smtp.taken.length = 0;
    // Each test has the whole allowance of an hour.
    stage.clock.forward(HOUR_MS);
  });
  after(() => stage?.stop());

  /** Logs in: a test may take days. */
  const loggedIn = async (username = 'ada'): Promise<string> =>
    (await stage.app.call('POST', '/api/auth/login', { body: { username, password: PASSWORD } }))
      .body.token;
  const call = (method: string, path: string, body?: object, by = token) =>
    stage.call(method, path, body, by);
  const post = (body: object, by?: string) => call('POST', '/api/email/send', body, by);
  const letter = (over: object = {}): object => ({
    ...{ to: ['bob@example.org'], subject: 'The report', text: 'It is done.' },
    ...over,
  });
  const sent = async (id: string) => (await call('GET', `/api/email/sent/${id}`)).body;
  /** Sends; resolves to the message once it is neither on its way nor waits for its first attempt. */
  const send = async (over: object = {}) => {
    const begun = await post(letter(over));
    expect([begun.status, begun.body.status], begun.text).to.equal([202, 'queued']);
    return decided(begun.body.id);
  };
  const decided = (id: string, attempts = 1) =>
    until(
      () => sent(id),
      (mail) => mail.attempts >= attempts && mail.status !== 'sending',
    );
  /** Puts the clock forward, after which a login may have ended. */
  const later = async (ms: number): Promise<void> => {
    stage.clock.forward(ms);
    token = await loggedIn();
  };

  it('sends to everybody once, and names nobody of bcc', IF_INSTALLED, async () => {
    const mail = await send({
      ...{ to: ['bob@example.org', 'BOB@example.org'], cc: ['carol@example.org'] },
      ...{ bcc: ['eve@example.org', 'carol@example.org'], html: '<p>It is <b>done</b>.</p>' },
    });
    expect([mail.status, mail.error, mail.nextAt, mail.attempts]).to.equal(['sent', null, null, 1]);
    expect(statuses(mail)).to.equal(['sent', 'sent', 'sent']);
    const [taken] = stage.smtp.taken;
    expect(stage.smtp.taken.length).to.equal(1);
    expect([taken?.from, taken?.to]).to.equal([
      ...['ada@example.test', ['bob@example.org', 'carol@example.org', 'eve@example.org']],
    ]);
    const headers = headersOf(taken as TakenMail);
    expect(headers.get('from')).to.equal('"Ada L." <ada@example.test>');
    expect([headers.get('to'), headers.get('cc'), headers.get('subject')]).to.equal([
      ...['bob@example.org', 'carol@example.org', 'The report'],
    ]);
    expect(headers.get('message-id')).to.equal(mail.messageId);
    expect(taken?.text).to.not.include('eve@example.org');
    expect(taken?.text).to.include('text/plain').and.include('<b>done</b>');
    const { body } = await call('GET', '/api/email/sent?limit=1');
    expect([body.sent[0].id, body.sent[0].text]).to.equal([mail.id, undefined]);
  });

  it('answers a message in its thread, from its account', IF_INSTALLED, async () => {
    const raw = [
      ...['From: Bob <bob@example.org>', 'To: ada@example.test', 'Subject: A question'],
      ...['Message-ID: <3@example.org>', 'References: <1@example.org> <2@example.org>'],
      ...['Date: Sat, 31 Jan 2026 09:30:00 +0000', '', 'Is it done?', ''],
    ].join('\r\n');
    await stage.dovecot.deliver('ada', raw);
    const list = await until(
      async () => {
        stage.clock.forward(6000);
        return (await call('GET', '/api/email/messages?limit=5')).body.messages;
      },
      (messages) => messages.length > 0,
    );
    const mail = await send({ subject: 'Re: A question', inReplyTo: list[0].id });
    expect(mail.inReplyTo).to.equal('<3@example.org>');
    const headers = headersOf(stage.smtp.taken[0] as TakenMail);
    expect(headers.get('in-reply-to')).to.equal('<3@example.org>');
    expect(headers.get('references')).to.equal('<1@example.org> <2@example.org> <3@example.org>');
  });

  it('takes documents along, and fails where one was deleted meanwhile', IF_INSTALLED, async () => {
    const { app } = stage;
    const { body } = await upload(app, token, [{ name: 'minutes.txt', content: 'Grüße' }]);
    const { id } = body.documents[0] ?? { id: '' };
    const mail = await send({ attachments: [id] });
    expect([mail.status, mail.attachments[0].name]).to.equal(['sent', 'minutes.txt']);
    const { text = '' } = stage.smtp.taken[0] ?? {};
    expect(text).to.include('filename=minutes.txt');
    expect(text).to.include(Buffer.from('Grüße').toString('base64'));
    stage.smtp.recipient = () => {
      throw smtpError(451, '4.7.1 Greylisted');
    };
    const waits = await send({ attachments: [id] });
    expect(waits.status).to.equal('queued');
    expect((await call('DELETE', `/api/documents/${id}`)).status).to.equal(204);
    await later(2 * 60_000);
    const failed = await decided(waits.id, 2);
    expect([failed.status, failed.error]).to.equal([
      'failed',
      'Sending failed: the attached document minutes.txt was deleted. Upload the document again and send a new e-mail',
    ]);
  });

  it('keeps no secret that the server repeats after the login', IF_INSTALLED, async () => {
    stage.smtp.recipient = () => {
      throw Object.assign(new Error(`who is ${MAILBOX}?`), { responseCode: 550 });
    };
    const refused = await send({ subject: 'Repeated' });
    expect([refused.status, JSON.stringify(refused).includes(MAILBOX)]).to.equal(['failed', false]);
    expect(refused.recipients[0].reply).to.include('who is ');
    stage.smtp.recipient = () => undefined;
    stage.smtp.arrived = () => {
      throw Object.assign(new Error(`not from ${MAILBOX}`), { responseCode: 554 });
    };
    const whole = await send({ subject: 'Repeated again' });
    expect([whole.status, JSON.stringify(whole).includes(MAILBOX)]).to.equal(['failed', false]);
    expect(whole.error).to.include('not from ');
    stage.smtp.arrived = () => undefined;
  });

  it('saves one copy in the folder of sent mail', IF_INSTALLED, async () => {
    await stage.account('copier', { saveSent: true }, token);
    const { body } = await call('GET', '/api/email/accounts?limit=50');
    const account = body.accounts.find(
      ({ address }: { address: string }) => address === 'copier@example.test',
    );
    const mail = await send({ accountId: account.id });
    const saved = await until(
      () => sent(mail.id),
      ({ copy }) => copy !== 'wanted',
    );
    expect([saved.copy, saved.error]).to.equal(['saved', null]);
    const inSent = await call(
      ...(['GET', `/api/email/messages?accountId=${account.id}&folder=Sent`] as const),
    );
    expect(inSent.body.messages.map(({ messageId }: { messageId: string }) => messageId)).to.equal([
      mail.messageId,
    ]);
  });
});
