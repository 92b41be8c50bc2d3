import { Parser } from 'htmlparser2';
import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http } from '../../kernel/http.js';
import { type MailServers, presetFor } from './presets.js';
import type { MailServer } from './server.js';

/** null if none is found. */
export type FindMailServers = (
  address: string,
  signal: AbortSignal,
) => Promise<(MailServers & { source: 'preset' | 'autoconfig' }) | null>;

const LIMITS = { firstByteMs: 5000, silenceMs: 5000, totalMs: 8000, maxBytes: 256 * 1024 };

/** Thunderbird's order. HTTPS only, since whoever controls the description gets the password. */
const listAutoconfigUrls = (address: string): string[] => {
  const domain = getAddressDomain(address);
  const query = `?emailaddress=${encodeURIComponent(address)}`;
  return [
    `https://autoconfig.${domain}/mail/config-v1.1.xml${query}`,
    `https://${domain}/.well-known/autoconfig/mail/config-v1.1.xml${query}`,
    // Receives the domain, not the address.
    `https://autoconfig.thunderbird.net/v1.1/${domain}`,
  ];
};

export const getAddressDomain = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1).toLowerCase();

export const createFindMailServers =
  (
    http: Pick<Http, 'request'>,
    places: typeof listAutoconfigUrls = listAutoconfigUrls,
  ): FindMailServers =>
  async (address, signal) => {
    const known = presetFor(getAddressDomain(address));
    if (known) return { ...known, source: 'preset' };
    for (const url of places(address)) {
      const text = await read(http, url, signal);
      const found = text === null ? null : parseAutoconfig(text, address);
      if (found) return { ...found, source: 'autoconfig' };
    }
    return null;
  };

const read = async (
  http: Pick<Http, 'request'>,
  url: string,
  signal: AbortSignal,
): Promise<string | null> => {
  try {
    const { status, body } = await http.request({ method: 'GET', url, signal, ...LIMITS });
    return status === 200 ? body.toString() : null;
  } catch (error) {
    signal.throwIfAborted();
    const isUsual =
      error instanceof HttpFailure || error instanceof EgressRefused || error instanceof BadUrl;
    if (isUsual) return null;
    throw error;
  }
};

interface DescribedServer {
  type: string;
  said: Map<string, string>;
}

/** Thunderbird autoconfig 1.1. null: invalid, or no server with TLS. */
export const parseAutoconfig = (xml: string, address: string): MailServers | null => {
  const { name, servers } = readServers(xml);
  const imap = findFirstServer(servers, 'imap', address);
  const smtp = findFirstServer(servers, 'smtp', address);
  if (!imap || !smtp) return null;
  const local = address.slice(0, address.lastIndexOf('@'));
  const username = imap.username === local && local !== address ? 'local' : 'address';
  const both = { imap: imap.server, smtp: smtp.server };
  return { name: name || getAddressDomain(address), ...both, username, oauth2: null, hint: null };
};

const readServers = (xml: string): { name: string; servers: DescribedServer[] } => {
  const servers: DescribedServer[] = [];
  let current: DescribedServer | null = null;
  let text = '';
  let name = '';
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => {
        text = '';
        if (!/^(?:incoming|outgoing)Server$/.test(tag)) return;
        current = { type: attributes.type ?? '', said: new Map() };
        servers.push(current);
      },
      ontext: (more) => {
        text += more;
      },
      onclosetag: (tag) => {
        if (/^(?:incoming|outgoing)Server$/.test(tag)) current = null;
        // The first of several is preferred.
        else if (current && !current.said.has(tag)) current.said.set(tag, text.trim());
        else if (tag === 'displayName' && name === '') name = text.trim().slice(0, 100);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return { name, servers };
};

const findFirstServer = (
  servers: DescribedServer[],
  type: string,
  address: string,
): { server: MailServer; username: string } | null => {
  for (const { type: input, said } of servers) {
    if (input !== type) continue;
    const filled = (text: string): string => fill(text, address);
    const host = filled(said.get('hostname') ?? '').toLowerCase();
    const port = Number(said.get('port'));
    const tls = TLS[(said.get('socketType') ?? '').toUpperCase()];
    const isFit = HOST.test(host) && Number.isInteger(port) && port > 0 && port < 65_536;
    if (!tls || !isFit) continue;
    return { server: { host, port, tls }, username: filled(said.get('username') ?? '') };
  }
  return null;
};

const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;
const TLS: Record<string, MailServer['tls']> = { SSL: 'implicit', STARTTLS: 'starttls' };

const fill = (text: string, address: string): string =>
  text
    .replaceAll('%EMAILADDRESS%', address)
    .replaceAll('%EMAILLOCALPART%', address.slice(0, address.lastIndexOf('@')))
    .replaceAll('%EMAILDOMAIN%', getAddressDomain(address));
