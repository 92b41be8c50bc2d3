import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, until } from '../harness/app.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  smtpError,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const HOUR_MS = 3600_000;

describe(`the sending of e-mails${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let token: string;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage({ emailPerHour: 40 });
    expect((await stage.account('ada')).status).to.equal(201);
  });
  beforeEach(async () => {
    if (!IF_OPENSSL.skip) token = await loggedIn();
  });
  afterEach(() => {
    if (IF_OPENSSL.skip) return;
    stage.smtp.recipient = () => undefined;
    stage.smtp.taken.length = 0;
    // Each test has the whole allowance of an hour.
    stage.clock.forward(HOUR_MS);
  });
  after(() => stage?.stop());

  /** Logs in: a test may take days. */
  const loggedIn = async (): Promise<string> => {
    const body = { username: 'ada', password: PASSWORD };
    return (await stage.app.call('POST', '/api/auth/login', { body })).body.token;
  };
  const call = (method: string, path: string, body?: object, by = token) =>
    stage.call(method, path, body, by);
  const post = (body: object, by?: string) => call('POST', '/api/email/send', body, by);
  const letter = (over: object = {}): object => ({
    ...{ to: ['bob@example.org'], subject: 'The report', text: 'It is done.' },
    ...over,
  });
  /** Sends; resolves to the message after its first attempt. */
  const send = async (over: object) => {
    const { id } = (await post(letter(over))).body;
    return until(
      async () => (await call('GET', `/api/email/sent/${id}`)).body,
      ({ status }) => status === 'sent',
    );
  };
  /** Puts the clock forward, after which a login may have ended. */
  const later = async (ms: number): Promise<void> => {
    stage.clock.forward(ms);
    token = await loggedIn();
  };

  it('sends to the domain as in the DNS', IF_OPENSSL, async () => {
    // The first letter of the domain is Cyrillic.
    const mail = await send({ to: ['r@\u0435vil.test'] });
    expect(mail.recipients[0].address).to.equal('r@xn--vil-qdd.test');
  });

  it('begins no header with what is given, and names the field', IF_OPENSSL, async () => {
    const bad: [object, string][] = [
      [{ subject: 'Hi\r\nBcc: eve@example.org' }, 'subject'],
      [{ subject: 'Hi\u2028there' }, 'subject'],
      [{ to: ['bob@example.org\r\nRCPT TO:<eve@example.org>'] }, 'to.0'],
      [{ to: ['Bob <bob@example.org>'] }, 'to.0'],
      [{ cc: ['bob@example.org', 'a@b@c.org'] }, 'cc.1'],
      [{ to: [] }, 'to'],
      [{ to: Array.from({ length: 101 }, (_, at) => `u${at}@example.org`) }, 'to'],
      [{ bcc: Array.from({ length: 100 }, (_, at) => `u${at}@example.org`) }, 'to'],
      [{ inReplyTo: 'mail_01j9zq4w8k2m6n0p3r5t7v9xyz' }, 'inReplyTo'],
      [{ attachments: ['document_01j9zq4w8k2m6n0p3r5t7v9xyz'] }, 'attachments.0'],
      [{ accountId: 'mailaccount_01j9zq4w8k2m6n0p3r5t7v9xyz' }, 'accountId'],
    ];
    for (const [over, path] of bad) {
      const { status, body } = await post(letter(over));
      expect([status, body.details?.[0]?.path], JSON.stringify(over).slice(0, 80)).to.equal([
        ...[400, path],
      ]);
    }
    const many = Array.from({ length: 10_000 }, (_, at) => `u${at}@example.org`);
    expect((await post(letter({ to: many }))).status).to.equal(400);
    expect(stage.smtp.taken).to.equal([]);
    const quoted = await send({ subject: 'Grüße =?utf-8?q?x?= "and" <more>' });
    expect(quoted.status).to.equal('sent');
    expect(stage.smtp.taken[0]?.text).to.match(/\r\nSubject: =\?UTF-8\?/);
  });

  it('takes the permission, also at the time of sending', IF_OPENSSL, async () => {
    const bob = await stage.app.register('bob');
    const refused = await post(letter(), bob.token);
    expect([refused.status, refused.body.code]).to.equal([403, 'permission_missing']);
    const allow = (email: boolean) =>
      call('PATCH', `/api/admin/users/${bob.id}`, { permissions: { email } });
    expect((await allow(true)).status).to.equal(200);
    expect((await post(letter(), bob.token)).body.code).to.equal('no_mail_account');
    await stage.account('bob', {}, bob.token);
    stage.smtp.recipient = () => {
      throw smtpError(451, 'Later');
    };
    const { id } = (await post(letter(), bob.token)).body;
    const ofBob = async () =>
      (await call('GET', `/api/email/sent/${id}`, undefined, bob.token)).body;
    await until(ofBob, ({ attempts }) => attempts === 1);
    await allow(false);
    stage.smtp.recipient = () => undefined;
    await later(2 * 60_000);
    const left = await until(ofBob, ({ status }) => status !== 'queued');
    expect([left.status, left.error]).to.equal([
      'failed',
      'the owner no longer has the permission email',
    ]);
    expect(stage.smtp.taken).to.equal([]);
    expect((await call('GET', `/api/email/sent/${id}`)).status).to.equal(404);
  });

  it('takes so many an hour, and says when there is room again', IF_OPENSSL, async () => {
    const all = await Promise.all(Array.from({ length: 43 }, () => post(letter())));
    const refused = all.filter(({ status }) => status === 429);
    expect([refused.length, refused[0]?.body.code]).to.equal([3, 'too_many_mails']);
    expect(Number(refused[0]?.headers['retry-after'])).to.be.between(3500, 3601);
    stage.clock.forward(HOUR_MS + 1000);
    expect((await post(letter())).status).to.equal(202);
  });
});
