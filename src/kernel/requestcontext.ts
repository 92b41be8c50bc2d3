import { clientAddress, isFromHere, isShared, type ProxyTrust } from './clientaddress.js';
import type { Visit } from './contract/endpoint.js';

/** What a visit needs of the server's request. */
export interface IncomingRequest {
  headers: Record<string, unknown>;
  info: { remoteAddress?: string };
  events: { once(event: 'disconnect', act: () => void): unknown };
}

/**
 * What few handlers ask for is found out when they do. A class, since accessors of an object
 * literal make a hidden class for each request, and that keeps the whole request alive until the
 * next full garbage collection: twice the time of a request went there.
 */
export class RequestVisit implements Visit {
  private away: AbortController | null = null;
  /** Out of JSON's sight: nes writes down whom hapi's strategy found, and the request is circular. */
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
    return String(this.#asked.headers.host ?? '').toLowerCase();
  }

  get isLocal(): boolean {
    return isFromHere(this.peer, this.#asked.headers);
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
