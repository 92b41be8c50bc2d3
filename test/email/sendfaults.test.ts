import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, until } from '../harness/app.js';
import {
  IF_OPENSSL,
  openScriptedMailStage,
  type ScriptedMailStage,
  smtpError,
  statuses,
  unlessOpenssl,
} from './stage.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const HOUR_MS = 3600_000;
/** Limits of the phases of a session. */
const RECIPIENTS_MS = 5 * 60_000;
const DATA_MS = 20 * 60_000;

describe(`an e-mail at a server with faults${unlessOpenssl}`, () => {
  let stage: ScriptedMailStage;
  let token: string;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    stage = await openScriptedMailStage();
    expect((await stage.account('ada')).status).to.equal(201);
  });
  beforeEach(async () => {
    if (!IF_OPENSSL.skip) token = await loggedIn();
  });
  afterEach(() => {
    if (IF_OPENSSL.skip) return;
    stage.smtp.isRight = () => true;
    stage.smtp.recipient = () => undefined;
    stage.smtp.arrived = () => undefined;
    stage.smtp.taken.length = 0;
  });
  after(() => stage?.stop());

  /** Logs in: a test may take days. */
  const loggedIn = async (): Promise<string> => {
    const body = { username: 'ada', password: PASSWORD };
    return (await stage.app.call('POST', '/api/auth/login', { body })).body.token;
  };
  const call = (method: string, path: string, body?: object) =>
    stage.call(method, path, body, token);
  const sent = async (id: string) => (await call('GET', `/api/email/sent/${id}`)).body;
  const begin = async (over: object = {}): Promise<string> => {
    const letter = { to: ['bob@example.org'], subject: 'The report', text: 'It is done.', ...over };
    const begun = await call('POST', '/api/email/send', letter);
    expect([begun.status, begun.body.status], begun.text).to.equal([202, 'queued']);
    return begun.body.id;
  };
  /** Sends; resolves to the message after its first attempt. */
  const send = async (over: object = {}) => decided(await begin(over));
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
  const notices = async (kind: string) =>
    (await stage.notices(kind, token)).map(({ title }) => title);

  it(
    'sends again after a refusal for now, to those alone who were refused',
    IF_OPENSSL,
    async () => {
      let isGrey = true;
      stage.smtp.recipient = (address) => {
        if (isGrey && address === 'carol@example.org') throw smtpError(450, '4.2.0 Greylisted');
        if (address === 'eve@example.org') throw smtpError(550, '5.1.1 No such user');
      };
      const to = ['bob@example.org', 'carol@example.org', 'eve@example.org'];
      const mail = await send({ to });
      expect([mail.status, statuses(mail)]).to.equal(['queued', ['sent', 'queued', 'refused']]);
      expect(Date.parse(mail.nextAt) - stage.clock.now()).to.be.between(0, 60_001);
      isGrey = false;
      await later(61_000);
      const done = await decided(mail.id, 2);
      expect([done.status, statuses(done)]).to.equal(['sent', ['sent', 'sent', 'refused']]);
      expect(done.recipients[2].reply).to.include('5.1.1 No such user');
      expect(stage.smtp.taken.map((taken) => taken.to)).to.equal([
        ['bob@example.org'],
        ['carol@example.org'],
      ]);
      expect(await notices('mail_failed')).to.include(
        'E-mail "The report" did not reach 1 of 3 recipients',
      );
      const [notice] = await stage.notices('mail_failed', token);
      expect(notice).to.include({ link: '/mail?show=sent' });
    },
  );

  it('fails for good where the message itself is refused', IF_OPENSSL, async () => {
    stage.smtp.arrived = () => {
      throw smtpError(554, '5.7.1 Refused as spam');
    };
    const mail = await send({ subject: 'Spam' });
    expect([mail.status, statuses(mail)]).to.equal(['failed', ['refused']]);
    expect(mail.error).to.include('5.7.1 Refused as spam');
    expect(await notices('mail_failed')).to.include('E-mail "Spam" did not reach its recipient');
  });

  it('is given up after a day of refusals for now', IF_OPENSSL, async () => {
    stage.smtp.recipient = () => {
      throw smtpError(450, '4.2.0 Later');
    };
    const mail = await send();
    const since = stage.clock.now();
    let left = mail;
    while (left.nextAt !== null) {
      await later(Math.max(1, Date.parse(left.nextAt) - stage.clock.now()));
      left = await decided(mail.id, left.attempts + 1);
    }
    expect(left.status).to.equal('failed');
    expect([left.attempts, statuses(left)]).to.equal([10, ['refused']]);
    expect((stage.clock.now() - since) / HOUR_MS).to.be.between(23.9, 24.5);
  });

  it('is unknown, told and not sent again where the answer is lost', IF_OPENSSL, async () => {
    let whole = 0;
    stage.smtp.arrived = () => {
      whole++;
      stage.smtp.breakOff();
    };
    const mail = await send({ subject: 'Lost' });
    expect([mail.status, statuses(mail)]).to.equal(['unknown', ['unknown']]);
    await later(25 * HOUR_MS);
    stage.smtp.arrived = () => undefined;
    expect((await send({ subject: 'Another' })).status).to.equal('sent');
    expect([(await sent(mail.id)).attempts, whole]).to.equal([1, 1]);
    expect(await notices('mail_unknown')).to.include(
      'E-mail "Lost": delivery status unknown, not resent automatically',
    );
  });

  it(
    'is unknown for those alone who were not refused before the answer was lost',
    IF_OPENSSL,
    async () => {
      stage.smtp.recipient = (address) => {
        const [name = ''] = address.split('@');
        const status = { never: 550, later: 450 }[name];
        if (status) throw Object.assign(new Error(`no ${name}`), { responseCode: status });
      };
      stage.smtp.arrived = () => stage.smtp.breakOff();
      const to = ['bob@example.org', 'never@example.org', 'later@example.org'];
      const mail = await send({ to, subject: 'Lost for one' });
      expect([mail.status, statuses(mail)]).to.equal(['queued', ['unknown', 'refused', 'queued']]);
      expect(mail.recipients[1].reply).to.include('no never');
      stage.smtp.arrived = () => undefined;
      stage.smtp.recipient = () => undefined;
      await later(61_000);
      const after = await decided(mail.id, 2);
      expect([after.status, statuses(after)]).to.equal(['unknown', ['unknown', 'refused', 'sent']]);
      const taken = stage.smtp.taken.filter(({ text }) => text.includes('Subject: Lost for one'));
      expect(taken.map((each) => each.to)).to.equal([['bob@example.org'], ['later@example.org']]);
    },
  );

  it('waits for a server that hangs up at the login, and sends once', IF_OPENSSL, async () => {
    let tries = 0;
    stage.smtp.isRight = () => ++tries > 1;
    const mail = await send();
    expect([mail.status, statuses(mail)]).to.equal(['queued', ['queued']]);
    expect(mail.error).to.include('rejected the login');
    await later(61_000);
    expect((await decided(mail.id, 2)).status).to.equal('sent');
    expect(stage.smtp.taken.length).to.equal(1);
  });

  it('is sent once after a refusal of its content for now', IF_OPENSSL, async () => {
    stage.smtp.arrived = () => {
      throw smtpError(451, '4.3.0 Try again later');
    };
    const mail = await send();
    expect([mail.status, statuses(mail)]).to.equal(['queued', ['queued']]);
    expect(mail.error).to.include('4.3.0 Try again later');
    stage.smtp.arrived = () => undefined;
    await later(61_000);
    expect((await decided(mail.id, 2)).status).to.equal('sent');
    await later(25 * HOUR_MS);
    expect(stage.smtp.taken.map(({ to }) => to)).to.equal([['bob@example.org']]);
  });

  it('is sent once if the server hangs at the recipients', IF_OPENSSL, async () => {
    stage.smtp.recipient = () => new Promise(() => undefined);
    const id = await begin();
    await stage.clock.waiting(RECIPIENTS_MS);
    await later(RECIPIENTS_MS);
    const mail = await decided(id);
    expect([mail.status, statuses(mail)]).to.equal(['queued', ['queued']]);
    stage.smtp.recipient = () => undefined;
    await later(61_000);
    expect((await decided(id, 2)).status).to.equal('sent');
    expect(stage.smtp.taken).to.have.length(1);
  });

  it(
    'is unknown and not sent again if the server hangs after its content',
    IF_OPENSSL,
    async () => {
      let whole = 0;
      stage.smtp.arrived = () => {
        whole++;
        return new Promise(() => undefined);
      };
      const id = await begin({ subject: 'Hanging' });
      await until(
        async () => whole,
        (count) => count === 1,
      );
      await later(DATA_MS);
      const mail = await decided(id);
      expect([mail.status, statuses(mail)]).to.equal(['unknown', ['unknown']]);
      stage.smtp.arrived = () => undefined;
      await later(25 * HOUR_MS);
      expect((await send({ subject: 'Another' })).status).to.equal('sent');
      expect([(await sent(id)).attempts, whole]).to.equal([1, 1]);
      expect(await notices('mail_unknown')).to.include(
        'E-mail "Hanging": delivery status unknown, not resent automatically',
      );
    },
  );
});
