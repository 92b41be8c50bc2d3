import Boom from '@hapi/boom';
import { WebSocket } from 'ws';
import type { Clock } from '../../kernel/clock.js';

export type NesRequest =
  | {
      type: 'hello';
      version: string;
      subs?: string[];
      auth: { headers: { authorization: string } };
    }
  | { type: 'sub' | 'unsub'; path: string };

export interface NesReply {
  type: string;
  id: string;
  statusCode?: number;
  payload?: { error: string; message: string };
  path?: string;
}

/** Without cookies, because one named `nes` ends the process. */
export interface Peer {
  headers: { 'x-forwarded-for'?: string | string[] };
  socket: { remoteAddress?: string; remotePort?: number };
}

/** Time for the last replies of nes after a client disconnects. */
const SETTLE_MS = 2_000;

/**
 * Replaces ws.WebSocket for nes, which uses only `on`, `once`, `send`, `close` and `readyState`.
 * nes never sees client frames.
 */
export class Bridge {
  readyState: number = WebSocket.OPEN;
  private deliver: (text: string) => void = () => {};
  private end: () => void = () => {};
  private readonly pending = new Map<string, (reply: NesReply) => void>();
  private requestCount = 0;
  private isClosing = false;

  constructor(
    private readonly clock: Clock,
    private readonly closing: () => void,
  ) {}

  on(event: 'message' | 'error', listener: (text: string) => void): void {
    if (event === 'message') this.deliver = listener;
  }

  once(_event: 'close', listener: () => void): void {
    this.end = listener;
  }

  /** Rejects with 410 after a disconnect, because nobody would undo the effect. */
  ask(request: NesRequest): Promise<NesReply> {
    if (this.isClosing)
      return Promise.reject(Boom.resourceGone('The socket is closed. Open a new socket'));
    const id = `r${++this.requestCount}`;
    return new Promise((resolve) => {
      this.pending.set(id, resolve);
      this.deliver(JSON.stringify({ ...request, id }));
    });
  }

  /** Only replies: publications bypass nes. `done` is called at once. */
  send(text: string, done: () => void): void {
    process.nextTick(done);
    this.settle(JSON.parse(text));
  }

  close(): void {
    this.closing();
  }

  /**
   * nes is notified when no request is pending: otherwise a late hello or subscription would stay
   * in its indexes forever.
   */
  leave(): void {
    this.isClosing = true;
    if (this.pending.size === 0) this.left();
    else this.clock.after(SETTLE_MS, () => this.left(), { ref: false });
  }

  private settle(reply: NesReply): void {
    this.pending.get(reply.id)?.(reply);
    this.pending.delete(reply.id);
    if (this.isClosing && this.pending.size === 0) this.left();
  }

  private left(): void {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.end();
  }
}
