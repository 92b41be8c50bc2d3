import { isIP } from 'node:net';
import type { Http } from '../../kernel/http.js';
import { MailFault, mailFaultOf } from './fault.js';

/** A server for IMAP or for the submission of mail. Nothing is said there without TLS. */
export interface MailServer {
  host: string;
  port: number;
  /** `starttls`: TLS begins within the connection, before any login. */
  tls: 'implicit' | 'starttls';
}

/** The proof of who logs in. */
export type MailLogin = { username: string } & (
  | { password: string; accessToken?: undefined }
  | { accessToken: string; password?: undefined }
);

/** One address to dial, with the name that its certificate must have. */
export interface DialledServer extends MailServer {
  address: string;
  /** The name for SNI and the certificate; null if the host is an address itself. */
  servername: string | null;
}

/** Errors after which another address of the same host may work. */
const ELSEWHERE = new Set(['connection', 'timeout']);
const MAX_ADDRESSES = 4;

/**
 * Connects to a server by one of its addresses. Each is checked by the guard of outgoing traffic, and
 * exactly the checked address is dialled, so that no second answer of the DNS can replace it. Throws
 * MailFault.
 */
export const connectTo = async <T>(
  http: Pick<Http, 'addressesOf'>,
  server: MailServer,
  connect: (to: DialledServer) => Promise<T>,
): Promise<T> => {
  const { host, port } = server;
  let fault = new MailFault('connection', host);
  for (const address of await addressesOf(http, host, port)) {
    try {
      return await connect({ ...server, address, servername: nameOf(host) });
    } catch (error) {
      fault = mailFaultOf(error, host);
      if (!ELSEWHERE.has(fault.kind)) break;
    }
  }
  throw fault;
};

const addressesOf = async (
  http: Pick<Http, 'addressesOf'>,
  host: string,
  port: number,
): Promise<string[]> => {
  try {
    return (await http.addressesOf(host, port)).slice(0, MAX_ADDRESSES);
  } catch (error) {
    throw mailFaultOf(error, host);
  }
};

const nameOf = (host: string): string | null => (isIP(host.replace(/^\[|\]$/g, '')) ? null : host);
