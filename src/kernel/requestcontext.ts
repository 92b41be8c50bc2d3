import {
  addressedHost,
  clientAddress,
  isLocalRequest,
  isShared,
  type ProxyTrust,
} from './clientaddress.js';
import type { RequestContext } from './contract/endpoint.js';

export interface IncomingRequest {
  headers: Record<string, unknown>;
  info: { remoteAddress?: string };
  events: { once(event: 'disconnect', act: () => void): unknown };
  raw: { req: { httpVersion: string } };
}

/**
 * Computes rarely used values on demand. A class, because accessors of an object literal create a
 * hidden class per request, which keeps the request alive until the next full garbage collection.
 */
export class LazyRequestContext implements RequestContext {
  private away: AbortController | null = null;
  /** Private, because nes serializes credentials as JSON, and the request is circular. */
  readonly #asked: IncomingRequest;

  constructor(
    asked: IncomingRequest,
    readonly requestId: string,
    private readonly trust: ProxyTrust,
  ) {
    this.#asked = asked;
  }

  get address(): string {
    return clientAddress(this.peer, this.#asked.headers, this.trust);
  }

  get isShared(): boolean {
    return isShared(this.peer, this.trust);
  }

  get userAgent(): string {
    return String(this.#asked.headers['user-agent'] ?? '');
  }

  get host(): string {
    return addressedHost(this.peer, this.#asked.headers, this.trust);
  }

  get isLocal(): boolean {
    const { headers, raw } = this.#asked;
    return isLocalRequest(this.peer, { headers, httpVersion: raw.req.httpVersion });
  }

  get signal(): AbortSignal {
    this.away ??= this.abortWhenGone();
    return this.away.signal;
  }

  private get peer(): string {
    return this.#asked.info.remoteAddress ?? '';
  }

  private abortWhenGone(): AbortController {
    const away = new AbortController();
    this.#asked.events.once('disconnect', () => away.abort());
    return away;
  }
}
