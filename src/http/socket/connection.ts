import { type RawData, WebSocket } from 'ws';
import { frameCost, type SocketLimits } from './limits.js';
import type { SocketIdentity } from './socketserver.js';

/** Why the daemon closes a socket. The library itself adds 1002, 1007 and 1009. */
export const Close = {
  goingAway: 1001,
  binary: 1003,
  internal: 1011,
  signedOut: 4401,
  slow: 4408,
  flooding: 4429,
} as const;
export type CloseCode = (typeof Close)[keyof typeof Close];

/** Whom a wire belongs to: what it may do, and who is told. */
interface WireOwner {
  limits: SocketLimits;
  heard(text: string): void;
  slow(backlogBytes: number): void;
  closed(code: number): void;
}

/** One client's WebSocket, kept within its limits: what it sends, what waits for it, its token. */
export class Wire {
  /** The text that asks for a sign of life; without one it is a WebSocket ping. */
  heartbeat: string | undefined;
  private isAlive = true;
  private allowance: number;

  constructor(
    private readonly ws: WebSocket,
    public identity: SocketIdentity,
    private readonly owner: WireOwner,
  ) {
    this.allowance = owner.limits.frameBurst;
    ws.on('message', (data, isBinary) => this.receive(data, isBinary));
    ws.on('ping', () => this.spend(1));
    ws.on('pong', () => this.answered());
    // The library closes with the right code by itself; unheard, the error would end the process.
    ws.on('error', () => {});
    ws.once('close', (code) => owner.closed(code));
  }

  /** Bytes that the kernel has not taken yet. */
  get backlogBytes(): number {
    return this.ws.bufferedAmount;
  }

  /** Sends, or drops a reader that is too far behind: a close frame would queue behind the rest. */
  write(text: string): void {
    if (!this.isOpen) return;
    if (this.backlogBytes > this.owner.limits.maxBacklogBytes) this.cutOff();
    else this.ws.send(text);
  }

  end(code: CloseCode, reason: string): void {
    this.ws.close(code, reason);
  }

  /** The client answered the last heartbeat. */
  answered(): void {
    this.isAlive = true;
  }

  /** Drops a client that did not answer the heartbeat before this one, else asks again. */
  beat(): void {
    if (!this.isAlive) this.cutOff();
    else if (this.heartbeat) this.write(this.heartbeat);
    else this.ws.ping();
    this.isAlive = false;
  }

  /** Time goes by: the allowance of frames grows, the token may have ended. */
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
    if (isBinary) this.end(Close.binary, 'Text frames only');
    else if (this.spend(frameCost(text.length))) this.owner.heard(text);
  }

  /** False where the client sends more than it may; it is then closed. */
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
