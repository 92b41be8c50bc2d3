import {
  isLoopbackAddress,
  type ProxyTrust,
  proxyMark,
  type RawHeaders,
  resolveClientAddress,
} from './clientaddress.js';
import { type Clock, iso } from './clock.js';
import type { Log } from './log.js';

interface WatchedRequest {
  headers: RawHeaders;
  httpVersion: string;
  socket: { remoteAddress?: string | undefined };
}

/** Since the start of the daemon. */
export interface DetectedProxies {
  /** The last sign of an unconfigured proxy. */
  unnamed: { mark: string; at: string } | null;
  unreadable: string | null;
}

interface ProxyWatchDeps {
  clock: Clock;
  log: Log;
  /** Whether a public URL, tunnel or trusted proxy is configured. */
  isNamed(): boolean;
}

const MAX_SHOWN = 100;

export const UNNAMED_PROXY_REMEDY =
  'set ADJUTANT_PUBLIC_URL and ADJUTANT_TRUSTED_PROXIES, and configure the proxy to send X-Forwarded-For. See: adjutant tunnel config nginx';
export const UNREADABLE_ADDRESS_REMEDY =
  'configure the proxy to send the client address in X-Forwarded-For. See: adjutant tunnel config nginx';

export const createProxyWatch = ({ clock, log, isNamed }: ProxyWatchDeps) => {
  const seen: DetectedProxies = { unnamed: null, unreadable: null };

  const seeMark = (request: WatchedRequest): void => {
    const mark = proxyMark(request);
    if (mark === null || isNamed()) return;
    // Last, because the comparison of addresses takes longest.
    if (!isLoopbackAddress(request.socket.remoteAddress ?? '')) return;
    const isFirst = seen.unnamed === null;
    seen.unnamed = { mark: mark.slice(0, MAX_SHOWN), at: iso(clock.now()) };
    if (!isFirst) return;
    log.warn(
      { mark: seen.unnamed.mark, remedy: UNNAMED_PROXY_REMEDY },
      'a request arrived through an unconfigured proxy; it is not treated as local',
    );
  };

  const seeAddress = ({ headers, socket }: WatchedRequest, trust: ProxyTrust): void => {
    if (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined) return;
    const { unreadable } = resolveClientAddress(socket.remoteAddress ?? '', headers, trust);
    if (unreadable === null) return;
    seen.unreadable = unreadable.slice(0, MAX_SHOWN);
    log.warn(
      { sent: seen.unreadable, remedy: UNREADABLE_ADDRESS_REMEDY },
      'a trusted proxy sent no client address; the proxy address is used instead',
    );
  };

  return {
    see: (request: WatchedRequest, trust: ProxyTrust): void => {
      seeMark(request);
      if (seen.unreadable === null) seeAddress(request, trust);
    },
    seen: (): DetectedProxies => seen,
  };
};

export type ProxyWatch = ReturnType<typeof createProxyWatch>;
