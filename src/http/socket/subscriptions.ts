import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Publication, PublicationText, SocketConnection } from './connection.js';
import { textFrame } from './textframe.js';

let subscriptions = 0;
export const nextSubscription = (): number => ++subscriptions;

const PER_TURN = 64;
/** Bytes per socket and turn, because slow readers are dropped. */
const BYTES_PER_TURN = 64 * 1024;
/** Above this backlog, replaceable publications are skipped. */
const BEHIND = { bytes: 64 * 1024, publications: 256 };

/** Sockets of one user. Publications are sent in order, each as one frame per protocol. */
export class Audience {
  readonly connections = new Set<SocketConnection>();
  private waiting: Publication[] = [];
  private isSending = false;

  constructor(private readonly failed: (publication: Publication, error: unknown) => void) {}

  /** False if too many are waiting. The caller then closes the sockets. */
  publish(publication: Publication, maxWaiting: number): boolean {
    if (publication.isPassing && this.waiting.length >= BEHIND.publications) return true;
    if (this.waiting.length >= maxWaiting) return false;
    this.waiting.push(publication);
    if (!this.isSending) void this.drain();
    return true;
  }

  newestOf(channel: string): number {
    let newest = 0;
    for (const { channels } of this.connections) {
      newest = Math.max(newest, channels.get(channel) ?? 0);
    }
    return newest;
  }

  /**
   * Sends a turn's publications together. If a reader is slow, one per turn, so that the kernel can
   * keep up.
   */
  private async drain(): Promise<void> {
    this.isSending = true;
    // Includes other publications of this turn.
    await Promise.resolve();
    while (this.connections.size > 0 && this.waiting.length > 0) {
      if (this.isBehind) this.sendNext();
      else this.sendTogether();
      if (this.waiting.length > 0) await nextTurn();
    }
    this.waiting = [];
    this.isSending = false;
  }

  private sendTogether(): void {
    const isAlone = this.waiting.length === 1;
    const corked = isAlone ? [] : [...this.connections];
    for (const connection of corked) connection.cork();
    let bytes = 0;
    for (let sent = 0; sent < PER_TURN && bytes < BYTES_PER_TURN; sent++) {
      if (this.waiting.length === 0) break;
      bytes += this.sendNext();
    }
    for (const connection of corked) connection.uncork();
  }

  private sendNext(): number {
    const publication = this.waiting.shift();
    if (!publication) return 0;
    const frames = new Map<PublicationText, Buffer>();
    let largest = 0;
    try {
      for (const connection of this.connections) {
        if (!connection.channels.has(publication.channel)) continue;
        if (publication.isPassing && connection.backlogBytes > BEHIND.bytes) continue;
        const { publicationText } = connection;
        const frame = frames.get(publicationText) ?? textFrame(publicationText(publication));
        frames.set(publicationText, frame);
        largest = Math.max(largest, frame.length);
        connection.writeFrame(frame);
      }
    } catch (error) {
      this.failed(publication, error);
    }
    return largest;
  }

  private get isBehind(): boolean {
    for (const { backlogBytes } of this.connections) if (backlogBytes > 0) return true;
    return false;
  }
}
