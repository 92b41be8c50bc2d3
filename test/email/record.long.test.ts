import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { IF_INSTALLED, type MailStage, missing, openMailStage, skipNote } from './stage.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MOST = 3;
const GONE = 'the mail account was deleted';

describe(`the record of e-mails that were sent${skipNote}`, () => {
  let stage: MailStage;
  let account: string;
  beforeEach(async () => {
    if (missing) return;
    stage = await openMailStage({ emailPerHour: MOST });
    account = (await stage.account('ada')).body.id;
  });
  afterEach(() => stage?.stop());

  const send = async (subject = 'The report') =>
    stage.call('POST', '/api/email/send', { to: ['bob@example.org'], subject, text: 'Done.' });
  const get = async (id: string) => (await stage.call('GET', `/api/email/sent/${id}`)).body;
  const ended = (id: string) =>
    until(
      () => get(id),
      ({ finishedAt }) => finishedAt !== null,
    );
  const remove = (query = '') => stage.call('DELETE', `/api/email/accounts/${account}${query}`);
  const titles = async () => (await stage.notices('mail_failed')).map(({ title }) => title);

  it('outlives its account, so that the limit counts it', IF_INSTALLED, async () => {
    for (let n = 0; n < MOST; n++) await ended((await send()).body.id);
    expect((await send()).status).to.equal(429);
    expect((await remove()).status).to.equal(204);
    const { sent } = (await stage.call('GET', `/api/email/sent?accountId=${account}`)).body;
    expect(sent.map(({ status }: { status: string }) => status)).to.equal(['sent', 'sent', 'sent']);
    expect((await stage.account('ada')).status).to.equal(201);
    expect([(await send()).status, stage.smtp.taken.length]).to.equal([429, MOST]);
  });

  it('says of those that wait that their account was deleted', IF_INSTALLED, async () => {
    stage.smtp.recipient = () => {
      throw Object.assign(new Error('later'), { responseCode: 451 });
    };
    const { id } = (await send('Waits')).body;
    await until(
      () => get(id),
      ({ attempts, status }) => attempts === 1 && status === 'queued',
    );
    const refused = await remove();
    expect([refused.status, refused.body.code]).to.equal([409, 'mail_waits']);
    expect(refused.body.message).to.include('ada@example.test are queued');
    expect((await remove('?force=true')).status).to.equal(204);
    const mail = await ended(id);
    expect([mail.status, mail.error, mail.recipients[0]]).to.equal([
      ...['failed', GONE],
      { address: 'bob@example.org', place: 'to', status: 'refused', reply: GONE },
    ]);
    expect(await titles()).to.equal(['E-mail "Waits" did not reach its recipient']);
    expect((await remove()).status).to.equal(404);
  });

  it(
    'says of one on its way that it was sent, though its account is gone',
    IF_INSTALLED,
    async () => {
      let go = (): void => undefined;
      let isThere = false;
      stage.smtp.arrived = () =>
        new Promise<void>((resolve) => {
          isThere = true;
          go = resolve;
        });
      const { id } = (await send()).body;
      await until(
        async () => isThere,
        (is) => is,
      );
      expect((await remove()).status).to.equal(409);
      expect((await remove('?force=true')).status).to.equal(204);
      go();
      const mail = await ended(id);
      expect([mail.status, mail.accountId, await titles()]).to.equal(['sent', account, []]);
    },
  );

  it('has the messages that test an account, which count for the limit', IF_INSTALLED, async () => {
    const test = () => stage.call('POST', `/api/email/accounts/${account}/test`);
    expect((await test()).body.ok).to.be.true();
    expect(stage.smtp.taken[0]?.text).to.include('Auto-Submitted: auto-generated');
    const [mail] = (await stage.call('GET', '/api/email/sent')).body.sent;
    expect([mail.status, mail.subject]).to.equal(['sent', 'Test of your mail account']);
    for (let n = 1; n < MOST; n++) await ended((await send()).body.id);
    const { ok, steps } = (await test()).body;
    const last = steps.at(-1);
    expect([ok, last.step, last.status]).to.equal([false, 'smtp_send', 'failed']);
    expect(last.detail).to.match(/^Limit of 3 e-mails per hour reached/);
    expect(stage.smtp.taken.length).to.equal(MOST);
  });

  it('has nothing that an admin sends in the name of another', IF_INSTALLED, async () => {
    const bob = await stage.app.register('bob');
    const { id } = (await stage.account('bob', {}, bob.token)).body;
    const draft = { to: ['eve@example.org'], subject: 'As bob', text: 'Hello' };
    const kept = (await stage.call('POST', '/api/email/drafts', draft, bob.token)).body.id;
    const by = await stage.app.impersonate(stage.token, bob.id);
    for (const [path, body] of [
      ['/api/email/send', draft],
      [`/api/email/drafts/${kept}/send`, undefined],
      [`/api/email/accounts/${id}/test`, undefined],
    ] as const) {
      const { status, body: reply } = await stage.call('POST', path, body, by);
      expect([path, status, reply.code]).to.equal([path, 403, 'personal_only']);
    }
    const account = `/api/email/accounts/${id}`;
    const watched = await stage.call('PATCH', account, { watch: true }, by);
    expect([watched.status, watched.body.code]).to.equal([403, 'personal_only']);
    expect((await stage.call('PATCH', account, { watch: true }, bob.token)).status).to.equal(200);
    expect(stage.smtp.taken).to.equal([]);
  });
});
