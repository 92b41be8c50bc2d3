import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Owner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { type FaultyImapServer, startFaultyImap } from '../harness/mail/faultyimap.js';
import { type FakeSmtpServer, startSmtp } from '../harness/mail/smtp.js';
import { type Authority, makeAuthority } from '../harness/tunnels/tls.js';
import { IF_OPENSSL, unlessOpenssl } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** The text of a message for a hook is requested with this length, after its header is stored. */
const TEXT = 'BODY.PEEK[1]<0.65536>';
const SINCE = '2026-01-01T00:00:00.000Z';
const isOpen = ({ status }: { status: string }): boolean =>
  ['queued', 'running', 'sending'].includes(status);

describe(`e-mails whose daemon is killed${unlessOpenssl}`, () => {
  let home: string;
  let daemon: Daemon;
  let authority: Authority;
  let imap: FaultyImapServer;
  let smtp: FakeSmtpServer;
  let owner: Owner;
  before(async () => {
    if (IF_OPENSSL.skip) return;
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    authority = await makeAuthority();
    const certificate = await authority.issue('mail');
    imap = await startFaultyImap(certificate);
    smtp = await startSmtp({ certificate });
    await start();
    owner = await registerOwner(daemon.url);
    const { id: credentialId } = await owner.vault.create({
      body: { name: 'mailbox', value: 'a password' },
    });
    const on = (port: number) => ({ host: 'localhost', port, tls: 'implicit' as const });
    const servers = { imap: on(imap.port), smtp: on(smtp.port) };
    const address = 'ada@example.test';
    await owner.mailaccounts.create({
      body: { address, credentialId, syncDays: 3650, ...servers },
    });
    await owner.hooks.create({
      body: {
        ...{ name: 'mail', trigger: 'email', action: 'notify' },
        actionConfig: { notifyMessage: '{{email.subject}}', notifyOwner: true },
      },
    });
  });
  after(async () => {
    await daemon?.end('SIGKILL');
    imap?.close();
    await smtp?.close();
    await authority?.remove();
    if (home) await rm(home, { recursive: true, force: true });
  });

  const start = async (): Promise<void> => {
    const env = {
      NODE_EXTRA_CA_CERTS: authority.file,
      ADJUTANT_EGRESS_ALLOW: 'localhost,127.0.0.1',
    };
    daemon = await startDaemon({ home, env });
    owner = owner?.with({ url: daemon.url });
  };
  /** Resolves when the IMAP command arrives, which gets no reply. */
  const heldAt = (command: string, part = ''): Promise<void> =>
    new Promise((arrived) => {
      imap.before = {
        [command]: async function* (line) {
          if (!line.includes(part)) return;
          arrived();
          await daemon.ended;
          yield '';
        },
      };
    });
  const send = (subject: string) =>
    owner.sentmail.send({ body: { to: ['bob@example.org'], subject, text: 'x' } });
  const process = () => owner.mailprocessing.process({ body: { since: SINCE } });
  const settled = async (): Promise<void> => {
    await until(
      async () => [
        ...(await owner.operations.list({ query: {} })).operations,
        ...(await owner.sentmail.list({ query: {} })).sent,
      ],
      (all) => !all.some(isOpen),
    );
  };
  /** Subjects of the notifications of the hook. */
  const fired = async (): Promise<string[]> => {
    const { notifications } = await owner.notifications.list({ query: { limit: 50 } });
    return notifications
      .filter(({ kind }) => kind !== 'mail_unknown')
      .map(({ body }) => body)
      .sort();
  };

  it(
    'are processed by the next start if nothing was stored of it, and unknown if the server had all of it',
    IF_OPENSSL,
    async () => {
      imap.messages = [
        { uid: 1, subject: 'one', size: 100 },
        { uid: 2, subject: 'two', size: 70 },
      ];
      const whole = new Promise<void>((resolve) => {
        smtp.arrived = () => {
          resolve();
          return new Promise(() => undefined);
        };
      });
      const held = heldAt('uid fetch', TEXT);
      const { id } = await send('Whole');
      await process();
      await Promise.all([whole, held]);
      await daemon.end('SIGKILL');
      imap.before = {};
      smtp.arrived = () => undefined;
      await start();
      await settled();
      expect(await fired()).to.equal(['one', 'two']);
      const mail = await owner.sentmail.get({ id });
      expect([mail.status, mail.error, smtp.taken.length]).to.equal([
        ...['unknown', 'the daemon ended before the answer was recorded', 0],
      ]);
      const { notifications } = await owner.notifications.list({ query: { limit: 50 } });
      expect(notifications.filter(({ kind }) => kind === 'mail_unknown')).to.have.length(1);
    },
  );

  it(
    'are not processed again if it was stored, and sent if the server had nothing of it',
    IF_OPENSSL,
    async () => {
      imap.messages.push({ uid: 3, subject: 'three', size: 60 });
      const asked = new Promise<void>((resolve) => {
        smtp.recipient = () => {
          resolve();
          return new Promise(() => undefined);
        };
      });
      const { id } = await send('Before');
      await asked;
      // The operation has not ended then.
      const held = heldAt('logout');
      await process();
      await held;
      await daemon.end('SIGKILL');
      imap.before = {};
      smtp.recipient = () => undefined;
      await start();
      await settled();
      await process();
      await settled();
      expect(await fired()).to.equal(['one', 'three', 'two']);
      const mail = await owner.sentmail.get({ id });
      expect(mail.status).to.equal('sent');
      expect(smtp.taken.map(({ to }) => to)).to.equal([['bob@example.org']]);
    },
  );
});
