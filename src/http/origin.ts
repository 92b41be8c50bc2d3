import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackName, plainHost } from '../kernel/clientaddress.js';

/** The Origin is the public URL, or names the host of the request (RFC 6454). */
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

export const isSecureOrigin = (origin: string): boolean =>
  URL.canParse(origin) && (origin.startsWith('https://') || isLoopbackName(new URL(origin).host));
