import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { email, parseMailbox } from '../../src/providers/chat/email.js';
import { startApp, type TestApp, untilAtLeast } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { type FakeSmtpServer, startSmtp, type TakenMail } from '../harness/mail/smtp.js';
import { trustAuthority } from '../harness/mail/trust.js';
import { makeAuthority, opensslMissing } from '../harness/tunnels/tls.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const unless = opensslMissing();
const PASSWORD = 'a password of the relay';

describe(`an e-mail address as a channel${unless ? ` (skipped: ${unless})` : ''}`, {
  skip: unless !== null,
}, () => {
  let app: TestApp;
  let smtp: FakeSmtpServer;
  let admin: string;
  let ada: { id: string; token: string };
  let stop: () => Promise<void>;
  let count = 0;

  before(async () => {
    const authority = await makeAuthority();
    const distrust = trustAuthority(authority.file);
    const certificate = await authority.issue('mail');
    smtp = await startSmtp({ certificate });
    app = await startApp({ config: { registration: 'open' } });
    ({ token: admin } = await app.register('admin'));
    stop = async () => {
      await app.stop();
      await smtp.close();
      distrust();
      await authority.remove();
    };
  });
  beforeEach(async () => {
    smtp.taken.length = 0;
    smtp.recipient = () => undefined;
    smtp.arrived = () => undefined;
    smtp.isRight = ({ password }) => password === PASSWORD;
    const values = {
      ...{ from: 'adjutant@example.test', host: 'localhost', port: String(smtp.port) },
      ...{ username: 'relay', password: PASSWORD },
    };
    expect((await set({ values })).body.sends).to.be.true();
    ada = await app.register(`ada-${++count}`);
  });
  afterEach(async () => {
    const { db } = app.app.store;
    for (const table of ['channels', 'code_requests', 'link_codes', 'login_failures'] as const) {
      await db.deleteFrom(table).execute();
    }
  });
  after(() => stop?.());

  const set = (body: object) =>
    app.call('PUT', '/api/admin/platforms/email', { token: admin, body });
  const post = (path: string, body: object, by = ada.token) =>
    app.call('POST', path, { token: by, body });
  const ask = (address = 'Ada@Example.Test', by = ada.token) =>
    post('/api/channels/email', { address }, by);
  const codeIn = (mail: TakenMail | undefined): string =>
    /The code is (\w{6})\./.exec(mail?.text.replaceAll('=\r\n', '') ?? '')?.[1] ?? '';
  const arrived = (from: number): Promise<TakenMail[]> =>
    untilAtLeast(async () => smtp.taken.slice(from), 1);
  const link = async (): Promise<string> => {
    await ask();
    const linked = await post('/api/auth/link', { code: codeIn(smtp.taken.at(-1)) });
    expect(linked.status, linked.text).to.equal(201);
    await arrived(1);
    return linked.body.id;
  };
  /** Sends a test to a channel; gives how it stands once the server was asked. */
  const tested = async (id: string) =>
    (await app.call('POST', `/api/channels/${id}/test`, { token: ada.token })).body;

  it('is linked with the code that arrives there, by the account that asked for it', async () => {
    const { status, body, text } = await ask();
    expect([status, body.kind, body.address]).to.equal([202, 'email', 'ada@example.test']);
    const [mail] = smtp.taken;
    expect([mail?.from, mail?.to, mail?.user]).to.equal([
      ...['adjutant@example.test', ['ada@example.test'], 'relay'],
    ]);
    expect(mail?.text)
      .to.include('From: Adjutant <adjutant@example.test>\r\n')
      .and.include('To: ada@example.test\r\n')
      .and.include('Subject: Link this address to Adjutant?\r\n')
      .and.include('Auto-Submitted: auto-generated\r\n')
      .and.include('X-Adjutant-Hops: 1\r\n');
    const code = codeIn(mail);
    expect(text).to.not.include(code);
    const bob = await app.register(`bob-${count}`);
    const foreign = await post('/api/auth/link', { code }, bob.token);
    expect([foreign.status, foreign.body.code]).to.equal([404, 'wrong_code']);
    const linked = await post('/api/auth/link', { code });
    expect([linked.status, linked.body.kind, linked.body.address]).to.equal([
      ...[201, 'email', 'ada@example.test'],
    ]);
    const [notice] = await arrived(1);
    expect(notice?.text).to.include('Your notifications are sent to it.');
    expect((await ask('ada@example.test')).body.code).to.equal('already_linked');
  });

  it('stands in the audit log with its server, and with its address once it is linked', async () => {
    const id = await link();
    const { body } = await app.call('GET', '/api/admin/audit?limit=5', { token: admin });
    const entries: { action: string; target: string | null; data: unknown }[] = body.entries;
    const of = (wanted: string) => entries.find(({ action }) => action === wanted);
    expect(of('channels.email')?.data).to.equal({ kind: 'email', server: 'localhost' });
    const linked = { kind: 'email', address: 'ada@example.test' };
    expect([of('channels.link')?.target, of('channels.link')?.data]).to.equal([id, linked]);
  });

  it('gets three codes an hour, also of several users', async () => {
    const bob = await app.register(`bob-${count}`);
    const asked = await Promise.all([ask(), ask(), ask('ada@example.test', bob.token), ask()]);
    expect(asked.map(({ status }) => status).sort()).to.equal([202, 202, 202, 429]);
    expect(smtp.taken.length).to.equal(3);
  });

  it('is refused where it is none, names the field, and nothing is sent', async () => {
    const wrong = [
      ...['ada', 'ada@', '@example.test', 'Ada <ada@example.test>', 'a@x.test,b@x.test'],
      ...['ada@example.test\r\nBcc: eve@example.test', '"a b"@example.test', 'a@x..test'],
    ];
    for (const address of wrong) {
      const { status, body } = await ask(address);
      expect([status, body.details?.[0]?.path], address).to.equal([400, 'address']);
    }
    expect(smtp.taken).to.equal([]);
  });

  it('says why no code was sent', async () => {
    smtp.recipient = () => {
      throw Object.assign(new Error('5.1.1 No such mailbox'), { responseCode: 550 });
    };
    const refused = await ask();
    expect([refused.status, refused.body.code]).to.equal([409, 'code_not_sent']);
    expect(refused.body.message).to.include('No such mailbox');
    await app.call('DELETE', '/api/admin/platforms/email', { token: admin });
    const unset = await ask();
    expect([unset.status, unset.body.code]).to.equal([409, 'not_set_up']);
    expect(unset.body.message).to.include('adjutant channels setup email');
  });

  it('is told of a call that waits, whole, with the commands that decide it', async () => {
    await link();
    const { length } = smtp.taken;
    const id = await askApproval(app, ada.id);
    const [mail] = await arrived(length);
    const { digest } = (await app.call('GET', `/api/chat/approvals/${id}`, { token: ada.token }))
      .body;
    const text = mail?.text.replaceAll('=\r\n', '') ?? '';
    expect(text).to.include(`adjutant approvals approve ${digest.slice(0, 8)}`);
    expect(text).to.not.include('Or reply');
  });

  it('is sent to again after a refusal for now, and not after one for good', async () => {
    const id = await link();
    let refusals = 0;
    smtp.arrived = () => {
      if (refusals++ === 0) throw Object.assign(new Error('4.7.1 Later'), { responseCode: 451 });
    };
    const { length } = smtp.taken;
    expect(await tested(id)).to.include({ status: 'sent', error: null });
    expect([refusals, smtp.taken.length - length]).to.equal([2, 1]);
    smtp.recipient = () => {
      throw Object.assign(new Error('5.1.1 Gone'), { responseCode: 550 });
    };
    const failed = await tested(id);
    expect([failed.status, failed.receipt]).to.equal(['failed', null]);
    expect(failed.error).to.include('5.1.1 Gone');
  });

  it('is sent to again after a rejected login', async () => {
    const id = await link();
    let refusals = 0;
    smtp.isRight = ({ password }) => refusals++ > 0 && password === PASSWORD;
    expect(await tested(id)).to.include({ status: 'sent', error: null });
    expect(refusals).to.equal(2);
  });

  it('is not sent to again where the answer was lost', async () => {
    const id = await link();
    let whole = 0;
    smtp.arrived = () => {
      whole++;
      smtp.breakOff();
    };
    const test = await tested(id);
    expect([test.status, whole]).to.equal(['unknown', 1]);
  });

  it('names what the server of the settings refuses, without the password', async () => {
    expect(
      (await app.call('POST', '/api/admin/platforms/email/test', { token: admin })).body,
    ).to.equal({ ok: true, account: 'adjutant@example.test by localhost', error: null });
    smtp.isRight = () => false;
    const { body, text } = await app.call('POST', '/api/admin/platforms/email/test', {
      token: admin,
    });
    expect([body.ok, body.account]).to.equal([false, null]);
    expect(body.error).to.include('rejected the login');
    expect(text).to.not.include(PASSWORD);
  });

  it('has its password forgotten where another server is set', async () => {
    const kept = await set({ values: { from: 'other@example.test', tls: 'implicit' } });
    expect(kept.body.sends).to.be.true();
    for (const values of [{ host: 'mail.example.org' }, { port: '25' }, { port: null }]) {
      await set({ values: { host: 'localhost', port: String(smtp.port), password: PASSWORD } });
      const moved = await set({ values });
      const password = moved.body.fields.find(({ name }: { name: string }) => name === 'password');
      expect([moved.body.sends, password.isSet]).to.equal([false, false]);
    }
    const { status, body } = await set({ baseUrl: 'https://mail.example.org' });
    expect([status, body.details[0].path]).to.equal([400, 'baseUrl']);
  });
});

describe('the message to an e-mail address', () => {
  const render = (title: string | null, text: string) => email.render({ title, text })[0];

  it('has the title as its subject, on one line', () => {
    expect(render('Done\r\nBcc: eve@example.test', 'It is')).to.equal({
      ...{ subject: 'Done Bcc: eve@example.test', text: 'It is' },
    });
  });

  it('has the first line as its subject where it has no title', () => {
    expect(render(null, 'All is well.\nSee you')).to.equal({
      ...{ subject: 'All is well.', text: 'All is well.\nSee you' },
    });
    expect(render(null, ' ')?.subject).to.equal('Message from Adjutant');
  });

  it('has a title that is too long in its text', () => {
    const title = 'word '.repeat(100).trim();
    const shown = render(title, 'x');
    expect(shown?.text).to.equal(`${title}\n\nx`);
    expect(String(shown?.subject)).to.equal(`${title.slice(0, 149)}…`);
  });

  it('shows where its links lead', () => {
    const text = 'Read [the *report*](https://example.org/r)';
    const [part] = email.render({ title: 'T', text, isMarkdown: true });
    expect(part?.text).to.equal('Read the report (https://example.org/r)');
  });

  it('goes to one mailbox, whose name is known in one form', () => {
    expect(parseMailbox(' Ada.L+x@Example.ORG ')).to.equal('ada.l+x@example.org');
    expect(parseMailbox('ada@münchen.example')).to.equal('ada@münchen.example');
    expect(parseMailbox('ada@example.org>')).to.be.null();
  });
});
