import type { Duplex } from 'node:stream';
import { type RawData, WebSocket } from 'ws';
import type { SocketLimits } from './limits.js';
import type { SocketIdentity } from './socketserver.js';

/** Close codes of the daemon. The library adds 1002, 1007 and 1009. */
export const Close = {
  goingAway: 1001,
  binary: 1003,
  internal: 1011,
  signedOut: 4401,
  slow: 4408,
  flooding: 4429,
} as const;
export type CloseCode = (typeof Close)[keyof typeof Close];

/** Each further unit of this length counts as another frame. */
const FRAME_UNIT = 8192;

interface ConnectionOwner {
  limits: SocketLimits;
  received(text: string): void;
  slow(backlogBytes: number): void;
  closed(code: number): void;
}

export class SocketConnection {
  /** Undefined means a WebSocket ping. */
  heartbeat: string | undefined;
  readonly channels = new Map<string, number>();
  publicationText: PublicationText;
  private isAlive = true;
  private allowance: number;

  constructor(
    private readonly ws: WebSocket,
    private readonly socket: Duplex,
    public identity: SocketIdentity,
    private readonly owner: ConnectionOwner,
    publicationText: PublicationText,
  ) {
    this.publicationText = publicationText;
    this.allowance = owner.limits.frameBurst;
    ws.on('message', (data, isBinary) => this.receive(data, isBinary));
    ws.on('ping', () => this.spend(1));
    ws.on('pong', () => this.answered());
    // The library closes the socket by itself. Without a listener the error would end the process.
    ws.on('error', () => {});
    ws.once('close', (code) => owner.closed(code));
  }

  get backlogBytes(): number {
    return this.ws.bufferedAmount;
  }

  /** Drops a reader that is too slow, because a close frame would queue behind the rest. */
  write(text: string): void {
    if (!this.isOpen) return;
    if (this.backlogBytes > this.owner.limits.maxBacklogBytes) this.cutOff();
    else this.ws.send(text);
  }

  /**
   * Writes a prebuilt frame, which takes half the time. The library writes its own frames at once,
   * so the order is preserved.
   */
  writeFrame(frame: Buffer): void {
    if (!this.isOpen) return;
    if (this.backlogBytes > this.owner.limits.maxBacklogBytes) this.cutOff();
    else this.socket.write(frame);
  }

  cork(): void {
    this.socket.cork();
  }

  uncork(): void {
    this.socket.uncork();
  }

  end(code: CloseCode, reason: string): void {
    this.ws.close(code, reason);
  }

  answered(): void {
    this.isAlive = true;
  }

  /** Drops a client that did not answer the last heartbeat. */
  beat(): void {
    if (!this.isAlive) this.cutOff();
    else if (this.heartbeat) this.write(this.heartbeat);
    else this.ws.ping();
    this.isAlive = false;
  }

  /** Refills the frame allowance, and closes the socket if the token has expired. */
  tick(now: number, seconds: number): void {
    const { framesPerSecond, frameBurst } = this.owner.limits;
    this.allowance = Math.min(frameBurst, this.allowance + seconds * framesPerSecond);
    if (now >= this.identity.expiresAt) this.end(Close.signedOut, 'The token has expired');
  }

  private get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN;
  }

  private receive(data: RawData, isBinary: boolean): void {
    if (!this.isOpen) return;
    const text = data.toString();
    if (isBinary) this.end(Close.binary, 'Only text frames are supported');
    else if (this.spend(1 + Math.floor(text.length / FRAME_UNIT))) this.owner.received(text);
  }

  /** False if the allowance is exceeded. The socket is then closed. */
  private spend(cost: number): boolean {
    this.allowance -= cost;
    if (this.allowance < 0) this.end(Close.flooding, 'Too many frames');
    return this.allowance >= 0;
  }

  private cutOff(): void {
    if (this.isOpen) this.owner.slow(this.backlogBytes);
    this.ws.terminate();
  }
}

export interface Publication {
  channel: string;
  data: unknown;
  /** May be skipped for slow readers, because later ones replace it. */
  isPassing?: true;
}

export type PublicationText = (publication: Publication) => string;
