import type { ImapFlow } from 'imapflow';
import { systemClock } from '../../kernel/clock.js';
import type { Http } from '../../kernel/http.js';
import { MailFault, toMailFault } from './fault.js';
import { limitResponses } from './responselimits.js';
import { connectTo, type DialledServer, type MailLogin, type MailServer } from './server.js';
import { createPartDecoder, type MailPart } from './structure.js';

export type ImapSession = ImapFlow;

/** With the reason it was closed for too much data. */
interface LimitedSession {
  client: ImapSession;
  excess(): MailFault | null;
}

interface ImapOptions {
  server: MailServer;
  login: MailLogin;
  signal: AbortSignal;
  silenceMs?: number;
}

const CONNECT_MS = 15_000;
const SILENCE_MS = 60_000;
const MIB = 1024 * 1024;

/** The caller closes it with `closeImap`. Throws MailFault. */
const openImap = async (
  http: Pick<Http, 'addressesOf'>,
  options: ImapOptions,
): Promise<LimitedSession> => {
  // Loaded on first use: most daemons read no mail.
  const { ImapFlow } = await import('imapflow');
  return connectTo(http, options.server, async (to) => {
    options.signal.throwIfAborted();
    const client = new ImapFlow(buildImapFlowOptions(to, options));
    const excess = limitResponses(client, to.host);
    const close = (): void => client.close();
    // A broken connection also rejects the current call.
    client.on('error', () => undefined);
    client.once('close', () => options.signal.removeEventListener('abort', close));
    options.signal.addEventListener('abort', close, { once: true });
    try {
      await client.connect();
      if (client.secureConnection) return { client, excess };
      throw new MailFault('starttls', to.host);
    } catch (error) {
      client.close();
      throw excess() ?? error;
    }
  });
};

const buildImapFlowOptions = (
  { address, port, tls, servername }: DialledServer,
  { login, silenceMs = SILENCE_MS }: ImapOptions,
) => ({
  host: address,
  port,
  secure: tls === 'implicit',
  ...(tls === 'starttls' && { doSTARTTLS: true }),
  ...(servername !== null && { servername }),
  tls: { rejectUnauthorized: true },
  auth:
    login.accessToken === undefined
      ? { user: login.username, pass: login.password }
      : { user: login.username, accessToken: login.accessToken },
  clientInfo: { name: 'Adjutant' },
  logger: false as const,
  disableAutoIdle: true,
  // A small compressed response may expand hugely.
  disableCompression: true,
  connectionTimeout: CONNECT_MS,
  greetingTimeout: CONNECT_MS,
  socketTimeout: silenceMs,
  // Parts and headers are requested in pieces.
  maxLiteralSize: MIB,
  maxResponseSize: 20 * MIB,
  maxLineLength: 4 * MIB,
});

/** Closes the connection if the logout takes more than a second. */
const closeImap = async (client: ImapSession): Promise<void> => {
  const cancel = systemClock.after(1000, () => client.close());
  try {
    await client.logout();
  } catch {
    // Closed even if the logout fails.
  } finally {
    cancel();
    client.close();
  }
};

/** Errors of the work are MailFault too. */
export const withImap = async <T>(
  http: Pick<Http, 'addressesOf'>,
  options: ImapOptions,
  work: (client: ImapSession) => Promise<T>,
): Promise<T> => {
  const { client, excess } = await openImap(http, options).catch((error) => {
    options.signal.throwIfAborted();
    throw error;
  });
  try {
    return await work(client);
  } catch (error) {
    options.signal.throwIfAborted();
    throw excess() ?? toMailFault(error, options.server.host);
  } finally {
    await closeImap(client);
  }
};

const PIECE_BYTES = MIB / 2;

/** Decodes the transfer encoding. Fetched in pieces. Resolves to null if the message is gone. */
export const readMailPart = async (
  session: ImapSession,
  uid: number,
  { part, encoding }: Pick<MailPart, 'part' | 'encoding'>,
  mostBytes: number,
): Promise<Buffer | null> => {
  const decode = createPartDecoder(encoding);
  const pieces: Buffer[] = [];
  for (let start = 0; start < mostBytes; ) {
    const maxLength = Math.min(PIECE_BYTES, mostBytes - start);
    const query = { uid: true, bodyParts: [{ key: part, start, maxLength }] };
    const found = await session.fetchOne(`${uid}`, query, { uid: true });
    if (!found) return null;
    const piece = found.bodyParts?.get(part) ?? Buffer.alloc(0);
    pieces.push(decode(piece.subarray(0, mostBytes - start)));
    start += piece.length;
    // A server that sends more than requested has sent everything.
    if (piece.length !== maxLength) break;
  }
  return Buffer.concat([...pieces, decode(null)]);
};
