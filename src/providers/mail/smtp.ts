import { Readable } from 'node:stream';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Clock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import { MailFault, sanitizeServerText, toMailFault } from './fault.js';
import { limitTime } from './phaselimit.js';
import { redactLoginSecrets } from './secret.js';
import { connectTo, type DialledServer, type MailLogin, type MailServer } from './server.js';

interface SmtpOptions {
  clock: Clock;
  server: MailServer;
  login: MailLogin;
  signal: AbortSignal;
  silenceMs?: number;
  /** Until the greeting. */
  connectMs?: number;
}

export interface MailEnvelope {
  from: string;
  to: string[];
  /** Repeated in reports by servers that support it (RFC 3461). */
  id?: string;
}

export interface RecipientReply {
  address: string;
  isAccepted: boolean;
  /** null if there is none for this recipient. */
  status: number | null;
  reply: string;
}

/** The data was sent and the reply was lost. */
export class ReplyLost extends MailFault {
  /** Rejected before, so they did not get the message. */
  readonly refused: RecipientReply[];

  constructor(fault: MailFault, refused: RecipientReply[]) {
    super(fault.kind, fault.host, fault.detail, { cause: fault });
    this.refused = refused;
  }
}

export class RecipientsRefused extends MailFault {
  constructor(
    host: string,
    readonly recipients: RecipientReply[],
  ) {
    super('server', host, recipients[0]?.reply ?? '');
  }
}

export interface SmtpSession {
  /**
   * Throws RecipientsRefused, ReplyLost if the outcome is unknown, and MailFault if it was not
   * sent. `beforeData` is awaited before the first byte of the message; if it throws, nothing is
   * sent.
   */
  send(
    envelope: MailEnvelope,
    message: Buffer,
    beforeData?: () => Promise<void>,
  ): Promise<RecipientReply[]>;
  close(): void;
}

const CONNECT_MS = 15_000;
const SILENCE_MS = 60_000;
/**
 * For a server that never completes a reply (RFC 5321, 4.5.3.2): for the login, and again for the
 * recipients.
 */
const PHASE_MS = 5 * 60_000;
/** 18 MiB at 15 KiB per second. */
const DATA_MS = 20 * 60_000;

/** Throws MailFault. */
export const openSmtp = async (
  http: Pick<Http, 'addressesOf'>,
  options: SmtpOptions,
): Promise<SmtpSession> => {
  const { clock } = options;
  const { default: Connection } = await import('nodemailer/lib/smtp-connection');
  const connection = await connectTo(http, options.server, async (to) => {
    options.signal.throwIfAborted();
    const opened = new Connection(connectionOptions(to, options));
    opened.on('error', () => undefined);
    const close = (): void => opened.close();
    options.signal.addEventListener('abort', close, { once: true });
    opened.once('end', () => options.signal.removeEventListener('abort', close));
    const limit = limitTime(clock, { connection: opened, host: to.host, ms: PHASE_MS });
    try {
      await awaitReply(opened, (done) => opened.connect(done));
    } catch (error) {
      throw limit.fault() ?? error;
    } finally {
      limit.end();
    }
    if (opened.secure) return opened;
    opened.close();
    throw new MailFault('starttls', to.host);
  }).catch((error) => {
    options.signal.throwIfAborted();
    throw error;
  });
  const { host } = options.server;
  const limit = limitTime(clock, { connection, host, ms: PHASE_MS });
  try {
    await logIn(connection, options.login);
  } catch (error) {
    connection.close();
    options.signal.throwIfAborted();
    throw limit.fault() ?? toMailFault(error, host);
  } finally {
    limit.end();
  }
  const { password, accessToken } = options.login;
  return {
    send: (envelope, message, beforeData) =>
      redactReplies([password, accessToken], () =>
        sendOn({ clock, connection, host }, { envelope, message, beforeData }),
      ),
    close: () => connection.quit(),
  };
};

const connectionOptions = (
  { address, port, tls, servername }: DialledServer,
  { silenceMs = SILENCE_MS, connectMs = CONNECT_MS }: SmtpOptions,
) => ({
  host: address,
  port,
  secure: tls === 'implicit',
  requireTLS: tls === 'starttls',
  ...(servername !== null && { servername }),
  tls: { rejectUnauthorized: true },
  // Does not reveal the host name.
  name: '[127.0.0.1]',
  connectionTimeout: connectMs,
  greetingTimeout: connectMs,
  socketTimeout: silenceMs,
});

/** Or rejects when the connection ends. */
const awaitReply = <T>(
  connection: SMTPConnection,
  call: (done: (error?: Error | null, value?: T) => void) => void,
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const over = (): void =>
      reject(Object.assign(new Error('The connection was closed'), { code: 'ECONNECTION' }));
    connection.once('error', reject);
    connection.once('end', over);
    call((error, value) => {
      connection.off('error', reject);
      connection.off('end', over);
      if (error) reject(error);
      else resolve(value);
    });
  });

const logIn = async (connection: SMTPConnection, login: MailLogin): Promise<void> => {
  const { username: user, password, accessToken } = login;
  if (accessToken === undefined) {
    await awaitReply(connection, (done) =>
      connection.login({ user, credentials: { user, pass: password } }, done),
    );
    return;
  }
  const { default: XOAuth2 } = await import('nodemailer/lib/xoauth2');
  const oauth2 = new XOAuth2({ user, accessToken });
  await awaitReply(connection, (done) => connection.login({ user, oauth2 }, done));
};

const PIECE = 64 * 1024;

interface Mailing {
  envelope: MailEnvelope;
  message: Buffer;
  beforeData?: (() => Promise<void>) | undefined;
}

const sendOn = async (
  { clock, connection, host }: { clock: Clock; connection: SMTPConnection; host: string },
  { envelope, message, beforeData }: Mailing,
): Promise<RecipientReply[]> => {
  let isWhole = false;
  let limit = limitTime(clock, { connection, host, ms: PHASE_MS });
  const pieces = async function* () {
    try {
      await beforeData?.();
    } catch (error) {
      // Without the end of the data the server drops the message.
      connection.close();
      throw error;
    }
    limit.end();
    limit = limitTime(clock, { connection, host, ms: DATA_MS });
    for (let at = 0; at < message.length; at += PIECE) yield message.subarray(at, at + PIECE);
    // After the final line the message may have been accepted.
    isWhole = true;
  };
  try {
    const content = Readable.from(pieces());
    const sent = await awaitReply<SMTPConnection.SentMessageInfo>(connection, (done) =>
      connection.send({ ...addressed(envelope), size: message.length }, content, done),
    );
    if (!sent) throw new Error('The SMTP server sent no reply');
    const accepted = sent.accepted.map((address) => ({
      address,
      isAccepted: true,
      status: 250,
      reply: sanitizeServerText(sent.response),
    }));
    return [...accepted, ...(sent.rejectedErrors ?? []).map(toRecipientReply)];
  } catch (error) {
    throw toSendFault(limit.fault() ?? error, host, isWhole ? refusedOn(connection) : null);
  } finally {
    limit.end();
  }
};

const MAX_ID_LENGTH = 100;

const addressed = ({ from, to, id }: MailEnvelope) => ({
  from,
  to,
  ...(id !== undefined && id.length <= MAX_ID_LENGTH && { dsn: { envid: id } }),
});

interface RefusalError {
  recipient?: string | undefined;
  responseCode?: number | undefined;
  response?: string | undefined;
  message: string;
}

interface SendingError {
  rejectedErrors?: RefusalError[];
  responseCode?: number;
}

const toRecipientReply = ({
  recipient,
  responseCode,
  response,
  message,
}: RefusalError): RecipientReply => ({
  address: recipient ?? '',
  isAccepted: false,
  status: responseCode ?? null,
  reply: sanitizeServerText(response ?? message),
});

const refusedOn = (connection: SMTPConnection): RecipientReply[] => {
  // nodemailer has no other access to them before the message is accepted.
  const envelope: SendingError | false | undefined = Reflect.get(connection, '_envelope');
  const { rejectedErrors = [] } = envelope || {};
  return rejectedErrors.map(toRecipientReply);
};

/** Removes secrets from replies. */
const redactReplies = async (
  secretsSent: (string | undefined)[],
  send: () => Promise<RecipientReply[]>,
): Promise<RecipientReply[]> => {
  // Each reply is one line.
  const cleaned = async (replies: RecipientReply[]): Promise<RecipientReply[]> => {
    const text = await redactLoginSecrets(
      replies.map(({ reply }) => reply).join('\n'),
      secretsSent,
    );
    const lines = text.split('\n');
    return replies.map((one, at) => ({ ...one, reply: lines[at] ?? '' }));
  };
  try {
    return await cleaned(await send());
  } catch (error) {
    if (!(error instanceof MailFault)) throw error;
    const { kind, host, status } = error;
    if (error instanceof RecipientsRefused) {
      throw new RecipientsRefused(host, await cleaned(error.recipients));
    }
    const fault = new MailFault(kind, host, await redactLoginSecrets(error.detail, secretsSent), {
      status,
    });
    throw error instanceof ReplyLost ? new ReplyLost(fault, await cleaned(error.refused)) : fault;
  }
};

/** `refused` is null if the message cannot have been accepted. */
const toSendFault = (error: unknown, host: string, refused: RecipientReply[] | null): MailFault => {
  const { rejectedErrors, responseCode }: SendingError = Object.assign({}, error);
  if (rejectedErrors?.length)
    return new RecipientsRefused(host, rejectedErrors.map(toRecipientReply));
  const fault = toMailFault(error, host);
  return refused !== null && responseCode === undefined ? new ReplyLost(fault, refused) : fault;
};
