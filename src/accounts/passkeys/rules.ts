import { createHash } from 'node:crypto';
import { isIP } from 'node:net';

/** A name that passkeys can belong to (WebAuthn: relying party), and where it is reached. */
export interface RelyingParty {
  /** Without a port. */
  id: string;
  /** As in a Host header. */
  host: string;
  origin: string;
}

/** The daemon's own port, and the setting publicUrl. */
export interface RelyingPartyAddress {
  port: number;
  publicUrl: string | null;
}

/**
 * Under which names passkeys work here. The port of `localhost` is the daemon's own and not what
 * the Host header says: any program of this machine may serve pages under another port.
 */
export const relyingParties = ({ port, publicUrl }: RelyingPartyAddress): RelyingParty[] =>
  [`http://localhost:${port}`, ...(publicUrl === null ? [] : [publicUrl])]
    .map((address) => new URL(address))
    .filter(isSecure)
    .map(({ hostname, host, origin }) => ({ id: hostname, host, origin }));

/** Browsers have passkeys for names alone, over TLS or on this machine itself. */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  hostname === 'localhost' ||
  (protocol === 'https:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0);

/** SHA-256, base64url: of a verifier what RFC 7636 calls S256, of a code what is kept of it. */
export const textDigest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url');
