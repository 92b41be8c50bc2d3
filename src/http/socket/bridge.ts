import Boom from '@hapi/boom';
import { WebSocket } from 'ws';

/** What nes is asked, in its own protocol. The bridge numbers the requests. */
export type NesRequest =
  | {
      type: 'hello';
      version: string;
      subs?: string[];
      auth: { headers: { authorization: string } };
    }
  | { type: 'sub' | 'unsub'; path: string };

/** What nes answers; `statusCode` is there only where it refused. */
export interface NesReply {
  type: string;
  id: string;
  statusCode?: number;
  payload?: { error: string; message: string };
  path?: string;
}

/** All that nes is shown of a request. It does not get the cookies: one named `nes` ends the process. */
export interface Peer {
  headers: { 'x-forwarded-for'?: string | string[] };
  socket: { remoteAddress?: string; remotePort?: number };
}

/** What nes says on its own account. */
interface NesEvents {
  /** A publication, as nes would put it on the wire. */
  published(text: string): void;
  /** nes wants the connection closed. */
  closing(): void;
}

const PUBLICATION = '{"type":"pub"';
/** How long nes may take over the last answers to a client that is gone. */
const SETTLE_MS = 2_000;

/**
 * Stands in for a ws.WebSocket before nes, which uses `on`, `once`, `send`, `close` and
 * `readyState` alone. nes never sees a client's frame, only requests that were built here.
 */
export class Bridge {
  readyState: number = WebSocket.OPEN;
  private deliver: (text: string) => void = () => {};
  private end: () => void = () => {};
  private readonly unanswered = new Map<string, (reply: NesReply) => void>();
  private asked = 0;
  private isClosing = false;

  constructor(private readonly events: NesEvents) {}

  /** nes listens for frames; it listens for errors too, and there are none. */
  on(event: 'message' | 'error', listener: (text: string) => void): void {
    if (event === 'message') this.deliver = listener;
  }

  /** nes listens for the end. */
  once(_event: 'close', listener: () => void): void {
    this.end = listener;
  }

  /** One request to nes and its answer. 410 once the client is gone: nobody would undo it. */
  ask(request: NesRequest): Promise<NesReply> {
    if (this.isClosing) return Promise.reject(Boom.resourceGone('The socket is closed'));
    const id = `r${++this.asked}`;
    return new Promise((resolve) => {
      this.unanswered.set(id, resolve);
      this.deliver(JSON.stringify({ ...request, id }));
    });
  }

  /** nes sends. It is called back at once, since it serves its sockets one after the other. */
  send(text: string, done: () => void): void {
    process.nextTick(done);
    if (text.startsWith(PUBLICATION)) this.events.published(text);
    else this.settle(JSON.parse(text));
  }

  /** nes closes. */
  close(): void {
    this.events.closing();
  }

  /**
   * The client is gone. nes learns of it when nothing is under way any more: a hello or a
   * subscription that ends after the close would stay in its indexes for ever.
   */
  leave(): void {
    this.isClosing = true;
    if (this.unanswered.size === 0) this.left();
    else setTimeout(() => this.left(), SETTLE_MS).unref();
  }

  private settle(reply: NesReply): void {
    this.unanswered.get(reply.id)?.(reply);
    this.unanswered.delete(reply.id);
    if (this.isClosing && this.unanswered.size === 0) this.left();
  }

  private left(): void {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.end();
  }
}
