import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../harness/app.js';
import { reportOf } from '../harness/mail/reports.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

interface Recipient {
  address: string;
  status: string;
  reply: string | null;
}

const NO_USER = '550 5.1.1 No such user';

describe(`bounces${skipNote}`, () => {
  let stage: MailStage;
  before(async () => {
    if (missing) return;
    stage = await openMailStage({ emailPerHour: 0 });
    stage.smtp.arrived = () => undefined;
  });
  after(() => stage?.stop());

  let count = 0;
  /** Adds an account with a mailbox of its own. */
  const mailbox = async (by?: string) => {
    const name = `bounced-${++count}`;
    stage.clock.forward(Date.now() - stage.clock.now());
    const { id } = (await stage.account(name, {}, by)).body;
    return { id, name };
  };
  const sent = async (id: string, by?: string) =>
    (await stage.call('GET', `/api/email/sent/${id}`, undefined, by)).body;
  const send = async (accountId: string, to: string[], over: object = {}, by?: string) => {
    const body = { accountId, to, subject: 'The report', text: 'It is done.', ...over };
    const { id } = (await stage.call('POST', '/api/email/send', body, by)).body;
    return until(
      () => sent(id, by),
      ({ status, attempts }) => attempts > 0 && status !== 'sending',
    );
  };
  /** Delivers messages into a mailbox and processes them; resolves to what came of it. */
  const arrive = async ({ id, name }: { id: string; name: string }, ...messages: string[]) => {
    for (const message of messages) await stage.dovecot.deliver(name, message);
    const begun = await stage.call('POST', '/api/email/process', { accountId: id });
    const ended = await until(
      async () => (await stage.call('GET', `/api/operations/${begun.body.id}`)).body,
      ({ status }) => status !== 'queued' && status !== 'running',
    );
    return [ended.status, ended.result.processed];
  };
  const statuses = ({ recipients }: { recipients: Recipient[] }) =>
    recipients.map(({ status }) => status);
  const bounceNotices = async () =>
    (await stage.notices('mail_failed')).filter(({ title }) => title.includes('bounced'));
  const report = (messageId: string, ...addresses: string[]) =>
    reportOf({
      messageId,
      id: `<report-${++count}@mx.example.org>`,
      recipients: addresses.map((address) => ({ address })),
    });

  it('mark the recipients, tell the owner once and start hooks', IF_INSTALLED, async () => {
    const own = await mailbox();
    const hook = await stage.call('POST', '/api/hooks', {
      ...{ name: 'mail', trigger: 'email', action: 'notify' },
      triggerConfig: { accountId: own.id },
      actionConfig: { notifyMessage: '{{email.subject}}' },
    });
    const to = ['bob@example.org', 'Carol@Example.org', 'eve@example.org'];
    const mail = await send(own.id, to);
    expect([mail.status, statuses(mail)]).to.equal(['sent', ['sent', 'sent', 'sent']]);
    const first = report(mail.messageId, 'BOB@example.org', 'nobody@example.org');
    const second = report(mail.messageId, 'carol@example.org');
    expect(await arrive(own, first, second)).to.equal(['completed', 2]);
    const bounced = await sent(mail.id);
    expect([bounced.status, bounced.error]).to.equal(['sent', NO_USER]);
    expect(
      bounced.recipients.map((one: Recipient) => [one.address, one.status, one.reply]),
    ).to.equal([
      ['bob@example.org', 'bounced', NO_USER],
      ['Carol@example.org', 'bounced', NO_USER],
      ['eve@example.org', 'sent', mail.recipients[2].reply],
    ]);
    const [notice, ...others] = await bounceNotices();
    expect(others).to.equal([]);
    expect(notice?.title).to.equal('E-mail "The report" bounced from 2 of 3 recipients');
    expect(notice?.body).to.equal(`bob@example.org: ${NO_USER}\nCarol@example.org: ${NO_USER}`);
    const { body } = await stage.call('GET', `/api/hooks/${hook.body.id}/executions`);
    expect(body.executions.length).to.equal(2);
    const last = report(mail.messageId, 'eve@example.org', 'bob@example.org');
    await arrive(own, last, last.replace('report-', 'report-again-'));
    const all = await sent(mail.id);
    expect([all.status, statuses(all)]).to.equal(['failed', ['bounced', 'bounced', 'bounced']]);
    expect((await bounceNotices()).map(({ title }) => title)).to.equal([
      'E-mail "The report" bounced from 1 of 3 recipients',
      'E-mail "The report" bounced from 2 of 3 recipients',
    ]);
  });

  it('are known by the envelope, and by the first name of a recipient', IF_INSTALLED, async () => {
    const own = await mailbox();
    const mail = await send(own.id, ['bob@example.org']);
    const fields = [
      ...['Original-Recipient: rfc822;bob@example.org', 'Action: failed'],
      ...['Final-Recipient: rfc822; robert@elsewhere.example.org', 'Status: 5.2.2'],
    ];
    const envelopeId = mail.messageId.slice(1, -1);
    const recipients = [{ address: '', fields }];
    await arrive(own, reportOf({ envelopeId, recipients, id: '<envelope@mx.example.org>' }));
    const { status, recipients: after } = await sent(mail.id);
    expect([status, after[0].status, after[0].reply]).to.equal(['failed', 'bounced', '5.2.2']);
  });

  it('change nothing where a message is late, or was not accepted', IF_INSTALLED, async () => {
    const own = await mailbox();
    stage.smtp.recipient = (address) => {
      if (address !== 'carol@example.org') return;
      throw Object.assign(new Error('Greylisted'), { responseCode: 450 });
    };
    const mail = await send(own.id, ['bob@example.org', 'carol@example.org']);
    expect([mail.status, statuses(mail)]).to.equal(['queued', ['sent', 'queued']]);
    const before = await bounceNotices();
    const recipients = [{ address: 'bob@example.org', action: 'delayed' }];
    const id = '<late@mx.example.org>';
    await arrive(own, reportOf({ messageId: mail.messageId, recipients, id }));
    await arrive(own, report(mail.messageId, 'carol@example.org'));
    expect(await sent(mail.id)).to.equal(mail);
    expect(await bounceNotices()).to.equal(before);
    // One that comes between two attempts stays.
    await arrive(own, report(mail.messageId, 'bob@example.org'));
    expect(statuses(await sent(mail.id))).to.equal(['bounced', 'queued']);
    stage.smtp.recipient = () => undefined;
    stage.clock.forward(61_000);
    await stage.app.restart();
    const done = await until(
      () => sent(mail.id),
      ({ status, attempts }) => attempts === 2 && status !== 'sending',
    );
    expect([done.status, statuses(done)]).to.equal(['sent', ['bounced', 'sent']]);
  });

  it('stay where they come while a message is on its way again', IF_INSTALLED, async () => {
    const own = await mailbox();
    let grey = true;
    stage.smtp.recipient = (address) => {
      if (address !== 'carol@example.org' || !grey) return;
      throw Object.assign(new Error('Greylisted'), { responseCode: 450 });
    };
    const mail = await send(own.id, ['bob@example.org', 'carol@example.org']);
    grey = false;
    let go = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      stage.smtp.arrived = () => {
        resolve();
        return new Promise<void>((end) => {
          go = end;
        });
      };
    });
    stage.clock.forward(61_000);
    await stage.app.restart();
    await arrived;
    await arrive(own, report(mail.messageId, 'bob@example.org'));
    expect(statuses(await sent(mail.id))).to.equal(['bounced', 'queued']);
    stage.smtp.arrived = () => undefined;
    go();
    const done = await untilMatches(() => sent(mail.id), { status: 'sent' });
    expect([statuses(done), done.attempts]).to.equal([['bounced', 'sent'], 2]);
    stage.smtp.recipient = () => undefined;
  });

  it('are believed of what was sent from this account alone', IF_INSTALLED, async () => {
    const own = await mailbox();
    const other = await mailbox();
    const bob = await stage.app.register('bob');
    await stage.call('PATCH', `/api/admin/users/${bob.id}`, { permissions: { email: true } });
    const ofBob = await mailbox(bob.token);
    const mail = await send(own.id, ['bob@example.org']);
    const elsewhere = await send(ofBob.id, ['bob@example.org'], {}, bob.token);
    // By chance, or on purpose, two users have sent what has one Message-ID.
    await stage.app.app.store.db
      .updateTable('mail_sent')
      .set({ message_id: mail.messageId })
      .where('id', '=', elsewhere.id)
      .execute();
    const before = await bounceNotices();
    const forged = [
      report('<guessed@example.test>', 'bob@example.org'),
      report(mail.messageId, 'carol@example.org'),
      report(mail.messageId.toUpperCase(), 'bob@example.org'),
      report(mail.messageId, 'bob@example.org').replace('message/delivery-status', 'text/plain'),
      report(mail.messageId, 'bob@example.org').replace('Action: failed', 'Action failed'),
      ...['', 'no fields', '\r\n\r\n\r\n', '\0'].map((text) =>
        report(mail.messageId, 'bob@example.org').replace(
          /Final-Recipient[\s\S]*?--b/,
          `${text}\r\n--b`,
        ),
      ),
    ];
    expect(await arrive(own, ...forged)).to.equal(['completed', forged.length]);
    expect(await arrive(other, report(mail.messageId, 'bob@example.org'))).to.equal([
      'completed',
      1,
    ]);
    expect([statuses(await sent(mail.id)), await bounceNotices()]).to.equal([['sent'], before]);
    await arrive(own, report(mail.messageId, 'bob@example.org'));
    expect(statuses(await sent(mail.id))).to.equal(['bounced']);
    expect(statuses(await sent(elsewhere.id, bob.token))).to.equal(['sent']);
  });

  it('of any size and depth end, and the others go on', IF_INSTALLED, async () => {
    const own = await mailbox();
    const mail = await send(own.id, ['bob@example.org']);
    const many = Array.from({ length: 20_000 }, (_, n) => `r${n}@example.org`);
    const inner = report(mail.messageId, 'bob@example.org');
    let deep = inner;
    for (let n = 0; n < 60; n++) {
      deep = `Content-Type: multipart/mixed; boundary=n${n}\r\n\r\n--n${n}\r\n${deep}\r\n--n${n}--\r\n`;
    }
    const forwarded = [
      'Message-ID: <forwarded@example.org>\r\nContent-Type: multipart/mixed; boundary=f\r\n\r\n--f\r\n',
      `Content-Type: message/rfc822\r\n\r\n${inner}\r\n--f--\r\n`,
    ].join('');
    const hostile = [
      report(mail.messageId, ...many),
      reportOf({
        messageId: mail.messageId,
        recipients: [{ address: 'x@example.org', reply: 'x'.repeat(5_000_000) }],
        id: '<large@mx.example.org>',
      }),
      deep,
      forwarded,
    ];
    const good = report(mail.messageId, 'bob@example.org');
    expect(await arrive(own, ...hostile)).to.equal(['completed', 4]);
    expect(statuses(await sent(mail.id))).to.equal(['sent']);
    expect(await arrive(own, good)).to.equal(['completed', 1]);
    expect(statuses(await sent(mail.id))).to.equal(['bounced']);
  });
});
