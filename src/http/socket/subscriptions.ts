import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SocketConnection } from './connection.js';
import { textFrame } from './textframe.js';

/** An event for the sockets that subscribed to its channel. */
export interface Publication {
  channel: string;
  data: unknown;
  /** True if it may be left out for a reader that is behind, because what follows replaces it. */
  isPassing?: true;
}

/** Writes a publication in the protocol of a client. */
export type PublicationText = (publication: Publication) => string;

let subscriptions = 0;
/** Returns the number of the next subscription of all sockets. */
export const nextSubscription = (): number => ++subscriptions;

/** Limit of publications in one turn of the event loop. */
const PER_TURN = 64;
/** Limit of the bytes to one socket in one turn, because a reader that falls behind is cut off. */
const BYTES_PER_TURN = 64 * 1024;
/** Ours: with so many bytes or publications waiting, passing ones are left out. */
const BEHIND = { bytes: 64 * 1024, publications: 256 };

/**
 * The open sockets of one user. Publications go to them in order, each as one frame that is made once
 * for all sockets of a protocol.
 */
export class Audience {
  readonly connections = new Set<SocketConnection>();
  private waiting: Publication[] = [];
  private isSending = false;

  /** `failed` is called with the error of a publication that cannot be written as JSON. */
  constructor(private readonly failed: (publication: Publication, error: unknown) => void) {}

  /**
   * Adds a publication. Returns false if too many wait already; the caller then closes the sockets.
   */
  publish(publication: Publication, maxWaiting: number): boolean {
    if (publication.isPassing && this.waiting.length >= BEHIND.publications) return true;
    if (this.waiting.length >= maxWaiting) return false;
    this.waiting.push(publication);
    if (!this.isSending) void this.drain();
    return true;
  }

  /** Returns the number of the newest subscription of the sockets to the channel; 0 if there is none. */
  newestOf(channel: string): number {
    let newest = 0;
    for (const { channels } of this.connections) {
      newest = Math.max(newest, channels.get(channel) ?? 0);
    }
    return newest;
  }

  /**
   * Sends the waiting publications, those of one turn together. While bytes wait for some reader, it
   * sends one per turn, so that the kernel has time to accept them.
   */
  private async drain(): Promise<void> {
    this.isSending = true;
    // What else is published in this turn goes along.
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

  /** Sends the next publication. Returns the bytes of its largest frame. */
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
