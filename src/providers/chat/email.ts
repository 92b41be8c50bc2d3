import { randomUUID } from 'node:crypto';
import { hopHeader } from '../../kernel/hops.js';
import { composeMail } from '../mail/compose.js';
import { MailFault } from '../mail/fault.js';
import { redactLoginSecrets } from '../mail/secret.js';
import type { MailServer } from '../mail/server.js';
import { openSmtp, RecipientsRefused, ReplyLost, type SmtpSession } from '../mail/smtp.js';
import { asText } from './call.js';
import { messageLines } from './markdown/message.js';
import { writePlain } from './markdown/plain.js';
import type {
  OutboundPlatform,
  PlatformReach,
  PlatformRefusal,
  PlatformSent,
  PlatformSettings,
} from './platform.js';

/** Submission ports: implicit TLS (RFC 8314, section 3.3), STARTTLS (RFC 6409). */
const IMPLICIT_PORT = 465;
const STARTTLS_PORT = 587;
/** Message lists show no more. */
const MAX_SUBJECT_LENGTH = 150;
const ADDRESS = /^[^\s@<>"(),:;[\]\\]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,251}[\p{L}\p{N}])?$/u;

/** Sends through the server of the installation. Replies are not read. */
export const email: OutboundPlatform = {
  kind: 'email',
  // No HTTP API: the server is in the settings.
  baseUrl: '',
  fields: [
    {
      name: 'from',
      doc: 'Sender address. The server must allow the login to use this address',
      isSecret: false,
      form: { pattern: ADDRESS, fault: 'must be an e-mail address without a display name' },
      requiredFor: ['send'],
    },
    {
      name: 'host',
      doc: 'Host name of the outgoing mail server (SMTP submission)',
      isSecret: false,
      isPlace: true,
      form: {
        pattern: /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$|^\[[0-9A-Fa-f:.]+\]$/,
        fault: 'must be a host name or IP address, such as smtp.example.org',
      },
      requiredFor: ['send'],
    },
    {
      name: 'port',
      doc: `Optional port. Defaults to ${IMPLICIT_PORT}, or ${STARTTLS_PORT} with starttls`,
      isSecret: false,
      isPlace: true,
      form: {
        pattern: /^(?!0)(?:\d{1,4}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/,
        fault: 'must be a port from 1 to 65535',
      },
    },
    {
      name: 'tls',
      doc: 'Optional TLS mode: implicit (default) or starttls. Unencrypted connections are not supported',
      isSecret: false,
      form: { pattern: /^(?:implicit|starttls)$/, fault: 'must be implicit or starttls' },
    },
    {
      name: 'username',
      doc: 'Login name, often the address itself',
      isSecret: false,
      requiredFor: ['send'],
    },
    {
      name: 'password',
      doc: 'Password. Many providers require an app password',
      isSecret: true,
      requiredFor: ['send'],
    },
  ],
  setup: () => [
    'Create a mailbox or a relay with its own sender address, such as adjutant@example.org',
    'Its outgoing mail server must support login and TLS: port 465, or 587 with starttls',
    'Set from, host, username and password here',
    'Each user then runs adjutant channels add email ADDRESS and redeems the code sent to that address',
  ],

  render: (message) => {
    const title = oneLine(message.title ?? '');
    const text = writePlain(messageLines({ ...message, title: null }));
    const subject = title || oneLine(text.split('\n', 1)[0] ?? '') || 'Message from Adjutant';
    return [{ subject: shortened(subject), text: formatMailBody(title, text) }];
  },
  send: async (reach, to, part) => {
    const { from = '' } = reach.settings.values;
    const messageId = `<${randomUUID()}@${from.slice(from.lastIndexOf('@') + 1)}>`;
    const message = await composeMail({
      messageId,
      from: { name: 'Adjutant', address: from },
      to: [to],
      subject: asText(part.subject),
      text: `${asText(part.text)}\n`,
      isAutomatic: true,
      // A mailbox read here would start hooks with their own messages.
      headers: hopHeader(reach.hops),
    });
    return withSession(reach, async (session) => {
      const [reply] = await session.send({ from, to: [to] }, message);
      return { verdict: 'sent', receipt: messageId, excerpt: reply?.reply ?? '' };
    });
  },
  check: async (reach) => {
    const { values } = reach.settings;
    const account = `${values.from} by ${values.host}`;
    const tried = await withSession(reach, async () => ({ verdict: 'sent', receipt: null }));
    return tried.verdict === 'sent' ? { ok: true, account } : { ok: false, error: tried.error };
  },
};

/** Trimmed and in lower case, since no provider distinguishes case; null if invalid. */
export const parseMailbox = (typed: string): string | null => {
  const address = typed.trim().toLowerCase();
  return ADDRESS.test(address) && !address.includes('..') ? address : null;
};

const withSession = async (
  { clock, http, settings, signal }: PlatformReach,
  work: (session: SmtpSession) => Promise<PlatformSent>,
): Promise<PlatformSent> => {
  const { username = '' } = settings.values;
  const { password = '' } = settings.secrets;
  // Set only by an admin, so it may be private: exactly its host and port are allowed.
  const reached = {
    addressesOf: (host: string, port: number) => http.addressesOf(host, port, [`${host}:${port}`]),
  };
  const options = {
    server: parseMailServer(settings),
    login: { username, password },
    clock,
    signal,
  };
  let session: SmtpSession | null = null;
  try {
    session = await openSmtp(reached, options);
    return await work(session);
  } catch (error) {
    if (!(error instanceof MailFault) || signal.aborted) throw error;
    const refusal = toPlatformRefusal(error);
    return { ...refusal, error: await redactLoginSecrets(refusal.error, [password]) };
  } finally {
    session?.close();
  }
};

const parseMailServer = ({ values }: PlatformSettings): MailServer => {
  const { host = '', port, tls } = values;
  const isStarttls = tls === 'starttls' || (tls === undefined && Number(port) === STARTTLS_PORT);
  return {
    host,
    port: Number(port ?? (isStarttls ? STARTTLS_PORT : IMPLICIT_PORT)),
    tls: isStarttls ? 'starttls' : 'implicit',
  };
};

/** Failures that only an admin can solve. A rejected login is often an outage of the service. */
const LASTING = new Set(['address', 'starttls']);

const toPlatformRefusal = (fault: MailFault): PlatformRefusal => {
  const error = fault.message;
  if (fault instanceof ReplyLost) return { verdict: 'unknown', error };
  const status = fault instanceof RecipientsRefused ? fault.recipients[0]?.status : fault.status;
  const isLogin = fault.kind === 'login';
  const isFinal = LASTING.has(fault.kind) || (!isLogin && status != null && status >= 500);
  return { verdict: isFinal ? 'failed' : 'retry', error };
};

const oneLine = (text: string): string => text.replace(/[\p{C}\s]+/gu, ' ').trim();

const shortened = (subject: string): string => {
  const characters = [...subject];
  return characters.length <= MAX_SUBJECT_LENGTH
    ? subject
    : `${characters.slice(0, MAX_SUBJECT_LENGTH - 1).join('')}…`;
};

const formatMailBody = (title: string, text: string): string =>
  shortened(title) === title ? text || title : `${title}\n\n${text}`.trim();
