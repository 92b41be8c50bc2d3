import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, type Reply, until, untilMatches } from '../harness/app.js';
import {
  IF_INSTALLED,
  type MailStage,
  missing,
  openMailStage,
  skipNote,
  smtpError,
} from './stage.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const DAY_MS = 24 * 3600_000;

describe(`an e-mail that waits${skipNote}`, () => {
  let stage: MailStage;
  let token: string;
  /** The e-mail that a server waits to cancel; empty until it is known. */
  let id = '';
  const known = () =>
    until(
      async () => id,
      (each) => each !== '',
    );
  before(async () => {
    if (missing) return;
    stage = await openMailStage();
    token = stage.token;
    expect((await stage.account('ada', { saveSent: true })).status).to.equal(201);
  });
  afterEach(() => {
    if (missing) return;
    stage.smtp.isRight = () => true;
    stage.smtp.recipient = () => undefined;
    stage.smtp.arrived = () => undefined;
    stage.smtp.taken.length = 0;
  });
  after(() => stage?.stop());

  const call = (method: string, path: string, body?: object) =>
    stage.call(method, path, body, token);
  const send = async (subject: string, ...to: string[]): Promise<string> => {
    const letter = { to: to.map((name) => `${name}@example.org`), subject, text: 'It is done.' };
    return (await call('POST', '/api/email/send', letter)).body.id;
  };
  const sent = async (id: string) => (await call('GET', `/api/email/sent/${id}`)).body;
  const tried = (id: string) =>
    until(
      () => sent(id),
      ({ attempts, status }) => attempts > 0 && status === 'queued',
    );
  const cancel = (id: string) => call('POST', `/api/email/sent/${id}/cancel`);
  const statuses = (mail: { status: string; recipients: { status: string }[] }) => [
    mail.status,
    ...mail.recipients.map(({ status }) => status),
  ];
  /** Puts the clock forward by a day, after which a login has ended. */
  const nextDay = async (): Promise<void> => {
    stage.clock.forward(DAY_MS);
    const body = { username: 'ada', password: PASSWORD };
    token = (await stage.app.call('POST', '/api/auth/login', { body })).body.token;
  };

  it('is cancelled between two attempts, and never sent', IF_INSTALLED, async () => {
    stage.smtp.isRight = () => false;
    const id = await send('A mistake', 'bob', 'carol');
    await tried(id);
    const { status, body } = await cancel(id);
    expect([status, ...statuses(body)]).to.equal([200, 'cancelled', 'cancelled', 'cancelled']);
    expect([body.nextAt, body.finishedAt === null]).to.equal([null, false]);
    const again = await cancel(id);
    expect([again.status, again.body.code]).to.equal([409, 'not_waiting']);
    stage.smtp.isRight = () => true;
    await nextDay();
    const other = await send('Another', 'bob');
    await untilMatches(() => sent(other), { status: 'sent' });
    expect(stage.smtp.taken.length).to.equal(1);
    expect(statuses(await sent(id))).to.equal(['cancelled', 'cancelled', 'cancelled']);
    const { body: overview } = await call('GET', '/api/overview');
    expect(JSON.stringify(overview)).to.not.contain('A mistake');
    expect(await stage.notices('mail_failed', token)).to.equal([]);
  });

  it('stays sent to those who have got it, and its copy is saved', IF_INSTALLED, async () => {
    stage.smtp.recipient = (address) => {
      if (address.startsWith('carol')) throw smtpError(450, '4.2.0 Greylisted');
    };
    const id = await send('For one', 'bob', 'carol');
    await tried(id);
    expect(statuses((await cancel(id)).body)).to.equal(['sent', 'sent', 'cancelled']);
    const saved = await untilMatches(() => sent(id), { copy: 'saved' });
    expect(statuses(saved)).to.equal(['sent', 'sent', 'cancelled']);
    expect(stage.smtp.taken.map(({ to }) => to)).to.equal([['bob@example.org']]);
  });

  it(
    'is cancelled in the middle of a login, whether that succeeds or not',
    IF_INSTALLED,
    async () => {
      for (const isRight of [true, false]) {
        let cancelled = 0;
        id = '';
        stage.smtp.isRight = async () => {
          await known();
          cancelled = (await cancel(id)).status;
          return isRight;
        };
        id = await send('Too late', 'bob');
        await untilMatches(async () => cancelled, 200);
        stage.smtp.isRight = () => true;
        const other = await send('Another', 'eve');
        await untilMatches(() => sent(other), { status: 'sent' });
        await nextDay();
        expect(statuses(await sent(id))).to.equal(['cancelled', 'cancelled']);
      }
      expect(stage.smtp.taken.map(({ to }) => to[0])).to.equal([
        'eve@example.org',
        'eve@example.org',
      ]);
    },
  );

  it('cannot be called back while it is on its way', IF_INSTALLED, async () => {
    const replies: Reply[] = [];
    id = '';
    stage.smtp.arrived = async () => {
      await known();
      replies.push(await cancel(id));
    };
    id = await send('Gone', 'bob');
    const mail = await untilMatches(() => sent(id), { status: 'sent' });
    expect(statuses(mail)).to.equal(['sent', 'sent']);
    const [{ status, body } = { status: 0, body: {} }] = replies;
    expect([status, body.code, body.message]).to.equal([
      ...[409, 'not_waiting', 'Cannot cancel the e-mail, because the e-mail is being sent'],
    ]);
  });
});
