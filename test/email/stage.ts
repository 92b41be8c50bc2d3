import type { Config } from '../../src/config.js';
import {
  type FrozenClock,
  frozenClock,
  type Reply,
  startApp,
  type TestApp,
  until,
} from '../harness/app.js';
import { type Dovecot, dovecotMissing, MAILBOX, startDovecot } from '../harness/mail/dovecot.js';
import { type FakeSmtpServer, startSmtp } from '../harness/mail/smtp.js';
import { startTokens, type TokenService } from '../harness/mail/tokens.js';
import { trustAuthority } from '../harness/mail/trust.js';
import { type Certificate, makeAuthority, opensslMissing } from '../harness/tunnels/tls.js';

/** The program that tests with mail servers lack. `null` if all are installed. */
export const missing = dovecotMissing() ?? opensslMissing();
export const skipNote = missing ? ` (skipped: ${missing})` : '';
export const IF_INSTALLED = { skip: missing !== null };

/** For tests whose mail servers are scripted. */
export const unlessOpenssl = opensslMissing() ? ` (skipped: ${opensslMissing()})` : '';
export const IF_OPENSSL = { skip: opensslMissing() !== null };

/** Refusal by the SMTP server. */
export const smtpError = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode });

/** Status of each recipient of a message. */
export const statuses = ({ recipients }: { recipients: { status: string }[] }): string[] =>
  recipients.map(({ status }) => status);

/** Steps of the test of an account. */
export const statesOf = (steps: { step: string; status: string }[]): string[] =>
  steps.map(({ step, status }) => `${step} ${status}`);

/** Steps of a test that succeeds. */
export const WHOLE = [
  ...['imap_login ok', 'imap_folders ok', 'imap_idle ok'],
  ...['smtp_login ok', 'smtp_send ok', 'arrival ok'],
];

/** A daemon beside a scripted SMTP server, and an admin. */
export interface ScriptedMailStage {
  app: TestApp;
  clock: FrozenClock;
  token: string;
  userId: string;
  certificate: Certificate;
  smtp: FakeSmtpServer;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Reply>;
  /** Stores a credential; resolves to its id. */
  credential(value?: string, token?: string): Promise<string>;
  /** Adds a mail account for a new mailbox, whose name is given; resolves to it. */
  account(name: string, over?: object, token?: string): Promise<Reply>;
  /** The servers of the mailboxes, as an account has them. */
  servers: { imap: object; smtp: object };
  /** The notifications of a kind. */
  notices(kind: string, token?: string): Promise<{ title: string; body: string }[]>;
  /** Processes new mail and waits for the end; resolves to the operation. `passMs` pass at each look. */
  processed(body?: object, options?: { passMs?: number; by?: string }): Promise<Reply['body']>;
  stop(): Promise<void>;
}

/** A daemon beside a mail server, and an admin with a mailbox there. */
export interface MailStage extends ScriptedMailStage {
  dovecot: Dovecot;
  tokens: TokenService;
}

export const openScriptedMailStage = async (
  config: Partial<Config> = {},
  clock: FrozenClock = frozenClock(Date.now()),
): Promise<ScriptedMailStage> => {
  const authority = await makeAuthority();
  const distrust = trustAuthority(authority.file);
  const certificate = await authority.issue('mail');
  const smtp = await startSmtp({ certificate });
  const app = await startApp({
    clock,
    config: { registration: 'open', egressAllow: ['localhost', '127.0.0.1'], ...config },
  });
  const { token, id: userId } = await app.register('ada');
  const servers = {
    imap: { host: 'localhost', port: 1, tls: 'implicit' },
    smtp: { host: 'localhost', port: smtp.port, tls: 'implicit' },
  };
  let count = 0;
  const stage: ScriptedMailStage = {
    ...{ app, clock, token, userId, certificate, smtp, servers },
    call: (method, path, body, by = token) => app.call(method, path, { token: by, body }),
    credential: async (value = MAILBOX, by = token) => {
      const body = { name: `mailbox-${++count}`, value, type: 'password' };
      return (await stage.call('POST', '/api/vault', body, by)).body.id;
    },
    account: async (name, over = {}, by = token) => {
      const credentialId = await stage.credential(MAILBOX, by);
      const body = { address: `${name}@example.test`, credentialId, ...servers, ...over };
      return stage.call('POST', '/api/email/accounts', body, by);
    },
    notices: async (kind, by = token) => {
      const { body } = await stage.call('GET', '/api/notifications?limit=200', undefined, by);
      return body.notifications.filter((each: { kind: string }) => each.kind === kind);
    },
    processed: async (body = {}, { passMs = 0, by = token } = {}) => {
      const begun = await stage.call('POST', '/api/email/process', body, by);
      return until(
        async () => {
          if (passMs > 0) clock.forward(passMs);
          return (await stage.call('GET', `/api/operations/${begun.body.id}`, undefined, by)).body;
        },
        ({ status }) => status !== 'queued' && status !== 'running',
      );
    },
    stop: async () => {
      await app.stop();
      await smtp.close();
      distrust();
      await authority.remove();
    },
  };
  return stage;
};

export const openMailStage = async (
  config: Partial<Config> = {},
  clock: FrozenClock = frozenClock(Date.now()),
): Promise<MailStage> => {
  const stage = await openScriptedMailStage(config, clock);
  const { certificate, smtp } = stage;
  const tokens = await startTokens(certificate);
  const dovecot = await startDovecot({ certificate, introspection: tokens.introspection });
  // It puts each message into the mailbox of each recipient, as a mail server does.
  smtp.arrived = async ({ to, text }) => {
    for (const address of to) {
      const user = address.slice(0, address.indexOf('@'));
      await dovecot.deliver(user, Buffer.from(results + text, 'latin1'));
    }
  };
  stage.servers.imap = { host: 'localhost', port: dovecot.ports.implicit, tls: 'implicit' };
  const { stop } = stage;
  return Object.assign(stage, {
    dovecot,
    tokens,
    stop: async () => {
      await stop();
      await dovecot.stop();
      tokens.close();
    },
  });
};

/** The header that the receiving server writes on top of each message. */
const results = [
  'Return-Path: <ada@example.test>',
  'Authentication-Results: mx.example.test; spf=pass smtp.mailfrom=example.test;',
  '\tdkim=pass header.d=example.test; dmarc=pass header.from=example.test',
  'Received: from client.example.test ([192.0.2.1]) by mx.example.test with ESMTPSA; Sat, 31 Jan 2026 09:30:00 +0000',
  '',
].join('\r\n');
