import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createClient, type SentMail } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { type FakeSmtpServer, startSmtp } from '../harness/mail/smtp.js';
import { makeAuthority, opensslMissing } from '../harness/tunnels/tls.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const missing = opensslMissing();
const said = missing ? ` (skipped: ${missing})` : '';
const IF_INSTALLED = { skip: missing !== null };
const MAILS = 40;
const KILLS = 6;

describe(`e-mails whose daemon is killed${said}`, () => {
  let home: string;
  let daemon: Daemon;
  let smtp: FakeSmtpServer;
  let token: string;
  let start: () => Promise<void>;
  let stop: () => Promise<void>;
  const client = () => createClient({ url: daemon.url, token });

  before(async () => {
    if (missing) return;
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    const authority = await makeAuthority();
    smtp = await startSmtp({ certificate: await authority.issue('mail') });
    const env = {
      NODE_EXTRA_CA_CERTS: authority.file,
      ADJUTANT_EGRESS_ALLOW: 'localhost,127.0.0.1',
      ADJUTANT_EMAIL_PER_HOUR: '0',
    };
    start = async () => {
      daemon = await startDaemon({ home, env });
    };
    await start();
    ({ token } = await client().auth.register({ body: { username: 'ada', password: PASSWORD } }));
    const { id: credentialId } = await client().vault.create({
      body: { name: 'mailbox', value: 'a password' },
    });
    const server = (port: number) => ({ host: 'localhost', port, tls: 'implicit' as const });
    const servers = { imap: server(1), smtp: server(smtp.port) };
    const body = { address: 'ada@example.test', credentialId, ...servers };
    await client().mailaccounts.create({ body });
    stop = async () => {
      await daemon.end('SIGKILL');
      await smtp.close();
      await authority.remove();
      await rm(home, { recursive: true, force: true });
    };
  });
  after(() => stop?.());

  const send = (subject: string) =>
    client().sentmail.send({ body: { to: ['bob@example.org'], subject, text: 'x' } });
  const all = async (): Promise<SentMail[]> =>
    (await client().sentmail.list({ query: { limit: 200 } })).sent;
  const over = () =>
    until(
      all,
      (mails) => mails.every(({ status }) => !['queued', 'sending'].includes(status)),
      40_000,
    );
  const count = (subject: string): number =>
    smtp.taken.filter(({ text }) => text.includes(`\r\nSubject: ${subject}\r\n`)).length;

  it(
    'are unknown where the server has the whole message, and not sent again',
    IF_INSTALLED,
    async () => {
      smtp.arrived = async ({ text }) => {
        if (text.includes('Subject: Whole')) await daemon.end('SIGKILL');
      };
      const { id } = await send('Whole');
      await daemon.ended;
      smtp.arrived = () => undefined;
      await start();
      await over();
      const mail = await client().sentmail.get({ id });
      expect([mail.status, mail.recipients[0]?.status, mail.error]).to.equal([
        ...['unknown', 'unknown', 'the daemon ended before the answer was recorded'],
      ]);
      await send('After');
      await over();
      expect([count('Whole'), count('After')]).to.equal([1, 1]);
      const { notifications } = await client().notifications.list({ query: { limit: 50 } });
      expect(notifications.filter(({ kind }) => kind === 'mail_unknown').length).to.equal(1);
    },
  );

  it('are sent by the next start where nothing of them went out', IF_INSTALLED, async () => {
    smtp.recipient = async () => {
      await daemon.end('SIGKILL');
    };
    await send('Before');
    await daemon.ended;
    smtp.recipient = () => undefined;
    await start();
    const mails = await over();
    const found = mails.find(({ subject }) => subject === 'Before');
    expect([String(found?.status), count('Before')]).to.equal(['sent', 1]);
  });

  it('are sent once or are unknown, wherever it is killed', IF_INSTALLED, async () => {
    smtp.arrived = () => pause(20);
    const subjects = Array.from({ length: MAILS }, (_, at) => `Number ${at}`);
    for (const subject of subjects) await send(subject);
    for (let kill = 1; kill <= KILLS; kill++) {
      const from = smtp.taken.length;
      await until(
        async () => smtp.taken.length,
        (taken) => taken >= Math.min(MAILS - 2, from + 3),
      );
      await daemon.end('SIGKILL');
      await start();
    }
    const mails = await over();
    const wrong = subjects.flatMap((subject) => {
      const status = mails.find((mail) => mail.subject === subject)?.status;
      const arrived = count(subject);
      const isRight = status === 'sent' ? arrived === 1 : status === 'unknown' && arrived <= 1;
      return isRight ? [] : [`${subject}: ${status}, arrived ${arrived} times`];
    });
    expect(wrong).to.equal([]);
    expect(mails.filter(({ status }) => status === 'sent').length >= MAILS / 2).to.be.true();
  });
});
