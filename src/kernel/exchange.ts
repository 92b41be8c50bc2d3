import type { Dispatcher } from 'undici';
import { type FailureKind, failureKind, HttpFailure } from './failure.js';
import { Inflow } from './inflow.js';

/** One request, ready to be sent. Header names are in lower case. */
export interface Hop {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | Buffer | null;
}

/**
 * The limits of one exchange. undici's own limits are coarse and know no deadline, so they are off.
 */
export interface ExchangeLimits {
  /** The time until the first byte of the body, or until the end of a reply without one. */
  firstByteMs: number;
  /** The time between two pieces of the body, while the reader keeps up. */
  silenceMs: number;
  maxBytes: number;
  /** The time when the exchange must be over, on the scale of performance.now(). */
  deadline: number;
  signal?: AbortSignal | null;
}

export interface HttpReply {
  status: number;
  /** Headers by name in lower case. Headers that came several times are joined with commas. */
  headers: Record<string, string>;
  /**
   * The body. A reader that does not read it to its end must cancel it, or the connection stays
   * busy.
   */
  body: Inflow;
}

/** A reply to one request, with each of its Set-Cookie headers. */
export interface HopReply extends HttpReply {
  setCookies: string[];
}

/**
 * Sends one request and resolves when the status and headers of the reply have come. Every network
 * failure is an HttpFailure. Later failures come out of the body.
 */
export const dispatchHop = (
  agent: Dispatcher,
  hop: Hop,
  limits: ExchangeLimits,
): Promise<HopReply> =>
  new Promise((resolve, reject) => {
    const { method, headers, body, url } = hop;
    agent.dispatch(
      { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body },
      new Exchange(url.hostname, limits, { resolve, reject }),
    );
  });

class Exchange implements Dispatcher.DispatchHandler {
  /** The control of the request, set when the request goes out on a connection. */
  #controller: Dispatcher.DispatchController | null = null;
  readonly #body = new Inflow({ resume: () => this.#resume(), cancel: () => this.#cancel() });
  #timer: NodeJS.Timeout | undefined;
  #received = 0;
  #isOver = false;

  constructor(
    readonly host: string,
    readonly limits: ExchangeLimits,
    readonly head: { resolve(reply: HopReply): void; reject(error: Error): void },
  ) {
    this.#wait(limits.firstByteMs);
    limits.signal?.addEventListener('abort', this.#onAbort);
    if (limits.signal?.aborted) this.#onAbort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The exchange ended while connecting: nothing is written yet, and nothing will be.
    if (this.#isOver) controller.abort(new Error('Aborted while connecting'));
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const setCookies = [headers['set-cookie'] ?? []].flat();
    this.head.resolve({ status, headers: joined(headers), setCookies, body: this.#body });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#isOver) return;
    this.#received += piece.length;
    if (this.#received > this.limits.maxBytes) this.#fail('too_large');
    else this.#pass(controller, piece);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#end();
    this.#body.close();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const kind = failureKind(error);
    if (kind) this.#fail(kind, error);
    else this.#giveUp(error);
  }

  #pass(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#body.push(piece);
    const { isFull } = this.#body;
    if (isFull) controller.pause();
    this.#wait(isFull ? Number.POSITIVE_INFINITY : this.limits.silenceMs);
  }

  #cancel(): void {
    this.#end();
    this.#controller?.abort(new Error('The rest of the body was discarded'));
  }

  #resume(): void {
    if (this.#isOver || !this.#controller?.paused) return;
    this.#wait(this.limits.silenceMs);
    this.#controller.resume();
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    const left = this.limits.deadline - performance.now();
    this.#timer = setTimeout(() => this.#fail('timeout'), Math.min(ms, left));
  }

  readonly #onAbort = (): void => {
    const reason = this.limits.signal?.reason;
    const isTimeout = reason instanceof Error && reason.name === 'TimeoutError';
    this.#fail(isTimeout ? 'timeout' : 'aborted', reason);
  };

  #fail(kind: FailureKind, cause?: unknown): void {
    const effectBegan = this.#controller !== null;
    this.#giveUp(new HttpFailure(kind, { host: this.host, effectBegan, cause }));
  }

  #giveUp(error: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.head.reject(error);
    this.#body.close(error);
    this.#controller?.abort(error);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.limits.signal?.removeEventListener('abort', this.#onAbort);
  }
}

const joined = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => {
      const text = Array.isArray(value) ? value.join(', ') : value;
      return [name, OF_ADDRESSES.has(name) ? withEscapedBytes(text) : text];
    }),
  );

/** Headers with an address, which may come as raw UTF-8 instead of percent-encoded. */
const OF_ADDRESSES = new Set(['location', 'content-location', 'refresh']);

/** Percent-encodes the bytes of a header that are not ASCII; headers are read as Latin-1. */
const withEscapedBytes = (text: string): string =>
  text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
