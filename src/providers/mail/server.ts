import { isIP } from 'node:net';
import type { Http } from '../../kernel/http.js';
import { MailFault, toMailFault } from './fault.js';

/** TLS is required. */
export interface MailServer {
  host: string;
  port: number;
  /** `starttls`: upgraded before any login. */
  tls: 'implicit' | 'starttls';
}

export type MailLogin = { username: string } & (
  | { password: string; accessToken?: undefined }
  | { accessToken: string; password?: undefined }
);

export interface DialledServer extends MailServer {
  address: string;
  /** For SNI and the certificate; null if the host is an IP address. */
  servername: string | null;
}

/** Another address of the same host may work. */
const RETRY_OTHER_ADDRESS = new Set(['connection', 'timeout']);
const MAX_ADDRESSES = 4;

/**
 * Each address is checked by the egress guard, and exactly that address is dialled, so that a
 * second DNS answer cannot replace it. Throws MailFault.
 */
export const connectTo = async <T>(
  http: Pick<Http, 'addressesOf'>,
  server: MailServer,
  connect: (to: DialledServer) => Promise<T>,
): Promise<T> => {
  const { host, port } = server;
  let fault = new MailFault('connection', host);
  for (const address of await lookupAddresses(http, host, port)) {
    try {
      return await connect({ ...server, address, servername: getServerName(host) });
    } catch (error) {
      fault = toMailFault(error, host);
      if (!RETRY_OTHER_ADDRESS.has(fault.kind)) break;
    }
  }
  throw fault;
};

const lookupAddresses = async (
  http: Pick<Http, 'addressesOf'>,
  host: string,
  port: number,
): Promise<string[]> => {
  try {
    return (await http.addressesOf(host, port)).slice(0, MAX_ADDRESSES);
  } catch (error) {
    throw toMailFault(error, host);
  }
};

const getServerName = (host: string): string | null =>
  isIP(host.replace(/^\[|\]$/g, '')) ? null : host;
