import Boom from '@hapi/boom';
import { WebSocket } from 'ws';

/** A request to nes, in its own protocol. The bridge numbers the requests. */
export type NesRequest =
  | {
      type: 'hello';
      version: string;
      subs?: string[];
      auth: { headers: { authorization: string } };
    }
  | { type: 'sub' | 'unsub'; path: string };

/** A reply of nes; `statusCode` is set only if nes refused. */
export interface NesReply {
  type: string;
  id: string;
  statusCode?: number;
  payload?: { error: string; message: string };
  path?: string;
}

/**
 * The part of a request that nes gets. Cookies are left out, because one named `nes` ends the
 * process.
 */
export interface Peer {
  headers: { 'x-forwarded-for'?: string | string[] };
  socket: { remoteAddress?: string; remotePort?: number };
}

/** Time that nes may take over the last replies to a client that is gone. */
const SETTLE_MS = 2_000;

/**
 * A replacement for ws.WebSocket that nes gets. nes uses only `on`, `once`, `send`, `close` and
 * `readyState`. It never sees a client's frame, only requests that are built here.
 */
export class Bridge {
  readyState: number = WebSocket.OPEN;
  private deliver: (text: string) => void = () => {};
  private end: () => void = () => {};
  private readonly pending = new Map<string, (reply: NesReply) => void>();
  private asked = 0;
  private isClosing = false;

  /** `closing` is called when nes wants to close the connection. */
  constructor(private readonly closing: () => void) {}

  /** Registers nes's listener for frames. nes also listens for errors, but there are none. */
  on(event: 'message' | 'error', listener: (text: string) => void): void {
    if (event === 'message') this.deliver = listener;
  }

  /** Registers nes's listener for the close. */
  once(_event: 'close', listener: () => void): void {
    this.end = listener;
  }

  /**
   * Sends one request to nes and returns its reply. Rejects with 410 if the client is gone, since
   * nobody would undo the effect.
   */
  ask(request: NesRequest): Promise<NesReply> {
    if (this.isClosing) return Promise.reject(Boom.resourceGone('The socket is closed'));
    const id = `r${++this.asked}`;
    return new Promise((resolve) => {
      this.pending.set(id, resolve);
      this.deliver(JSON.stringify({ ...request, id }));
    });
  }

  /**
   * Called when nes sends: replies alone, since publications do not go through it. `done` is called
   * at once.
   */
  send(text: string, done: () => void): void {
    process.nextTick(done);
    this.settle(JSON.parse(text));
  }

  /** Called when nes closes. */
  close(): void {
    this.closing();
  }

  /**
   * Called when the client is gone. nes is told when no request is under way any more: a hello or a
   * subscription that ends after the close would stay in its indexes for ever.
   */
  leave(): void {
    this.isClosing = true;
    if (this.pending.size === 0) this.left();
    else setTimeout(() => this.left(), SETTLE_MS).unref();
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
