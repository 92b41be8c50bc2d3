import type { Dispatcher } from 'undici';
import { BodyStream } from './bodystream.js';
import type { Cancel, Clock } from './clock.js';
import { type FailureKind, failureKind, HttpFailure } from './failure.js';

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | Buffer | null;
}

/** undici's own limits are imprecise and have no total limit, so they are disabled. */
export interface ExchangeLimits {
  firstByteMs: number;
  silenceMs: number;
  maxBytes: number;
  totalMs: number;
  signal?: AbortSignal | null;
  clock: Clock;
}

export interface HttpReply {
  status: number;
  /** Lower-case names. Repeated headers are joined with commas. */
  headers: Record<string, string>;
  /** Must be read to its end or cancelled, otherwise the connection stays busy. */
  body: BodyStream;
}

export interface RawHttpReply extends HttpReply {
  setCookies: string[];
}

export const dispatchRequest = (
  agent: Dispatcher,
  hop: HttpRequest,
  limits: ExchangeLimits,
): Promise<RawHttpReply> =>
  new Promise((resolve, reject) => {
    const { method, headers, body, url } = hop;
    agent.dispatch(
      { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body },
      new Exchange(url.hostname, limits, { resolve, reject }),
    );
  });

class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | null = null;
  readonly #body = new BodyStream({ resume: () => this.#resume(), cancel: () => this.#cancel() });
  readonly #cancelTotal: Cancel;
  #cancelWait: Cancel = () => undefined;
  #received = 0;
  #isOver = false;

  constructor(
    readonly host: string,
    readonly limits: ExchangeLimits,
    readonly head: { resolve(reply: RawHttpReply): void; reject(error: Error): void },
  ) {
    this.#cancelTotal = limits.clock.after(limits.totalMs, this.#onTimeout);
    this.#wait(limits.firstByteMs);
    limits.signal?.addEventListener('abort', this.#onAbort);
    if (limits.signal?.aborted) this.#onAbort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
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
    if (this.#body.isFull) {
      this.#cancelWait();
      controller.pause();
    } else this.#wait(this.limits.silenceMs);
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
    this.#cancelWait();
    this.#cancelWait = this.limits.clock.after(ms, this.#onTimeout);
  }

  readonly #onTimeout = (): void => this.#fail('timeout');

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
    this.#cancelWait();
    this.#cancelTotal();
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

/** These headers may contain raw UTF-8 instead of percent-encoding. */
const OF_ADDRESSES = new Set(['location', 'content-location', 'refresh']);

/** Headers are read as Latin-1. */
const withEscapedBytes = (text: string): string =>
  text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
