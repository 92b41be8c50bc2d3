import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackName, plainHost } from '../kernel/clientaddress.js';

/**
 * True if a request comes from a page that this daemon served: its Origin is that of the public
 * address, or names the host that the request is addressed to (RFC 6454).
 */
export const isOwnOrigin = (
  { origin, host }: Pick<IncomingHttpHeaders, 'origin' | 'host'>,
  publicUrl: string | null,
): boolean => {
  if (origin === undefined) return false;
  if (publicUrl !== null && new URL(publicUrl).origin === origin) return true;
  if (host === undefined) return false;
  return [host, plainHost(host)].some(
    (each) => origin === `https://${each}` || origin === `http://${each}`,
  );
};

/** True if what a page of that origin sends cannot be read on its way: over TLS, or on this machine. */
export const isSecureOrigin = (origin: string): boolean =>
  URL.canParse(origin) && (origin.startsWith('https://') || isLoopbackName(new URL(origin).host));
