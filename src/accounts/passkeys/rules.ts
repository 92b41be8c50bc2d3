import { createHash } from 'node:crypto';
import { isIP } from 'node:net';

/** A host name that passkeys can be bound to (WebAuthn), and its address. */
export interface RelyingParty {
  /** Host name without a port. */
  id: string;
  /** Host with its port, as in a Host header. */
  host: string;
  origin: string;
}

export interface RelyingPartyAddress {
  port: number;
  publicUrl: string | null;
}

/**
 * The port of `localhost` is the daemon's own and not taken from the Host header, since any program on
 * this machine may serve pages under another port.
 */
export const relyingParties = ({ port, publicUrl }: RelyingPartyAddress): RelyingParty[] =>
  [`http://localhost:${port}`, ...(publicUrl === null ? [] : [publicUrl])]
    .map((address) => new URL(address))
    .filter(isSecure)
    .map(({ hostname, host, origin }) => ({ id: hostname, host, origin }));

/** Browsers allow passkeys only for a host name, and only over TLS or on this machine. */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  hostname === 'localhost' ||
  (protocol === 'https:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0);

/** Base64url. For a verifier this is the S256 of RFC 7636. */
export const textDigest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url');
