import { createHash } from 'node:crypto';
import { isIP } from 'node:net';

/** A name that passkeys can be bound to (WebAuthn: relying party), and its address. */
export interface RelyingParty {
  /** Host name without a port. */
  id: string;
  /** Host with its port, as in a Host header. */
  host: string;
  origin: string;
}

/** The daemon's own port and the setting publicUrl. */
export interface RelyingPartyAddress {
  port: number;
  publicUrl: string | null;
}

/**
 * Lists the names under which passkeys work here. The port of `localhost` is the daemon's own and
 * not taken from the Host header, since any program on this machine may serve pages under another
 * port.
 */
export const relyingParties = ({ port, publicUrl }: RelyingPartyAddress): RelyingParty[] =>
  [`http://localhost:${port}`, ...(publicUrl === null ? [] : [publicUrl])]
    .map((address) => new URL(address))
    .filter(isSecure)
    .map(({ hostname, host, origin }) => ({ id: hostname, host, origin }));

/**
 * Returns true if browsers allow passkeys there: only for a host name, and over TLS or on this
 * machine itself.
 */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  hostname === 'localhost' ||
  (protocol === 'https:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0);

/**
 * Returns a SHA-256 digest as base64url. For a verifier this is the S256 of RFC 7636; for a code it
 * is what is stored.
 */
export const textDigest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url');
