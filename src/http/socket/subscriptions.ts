import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SocketConnection } from './connection.js';

interface Publication {
  channel: string;
  data: unknown;
}

/** Limit of publications in one turn of the event loop. */
const PER_TURN = 64;

/**
 * The open sockets of one user. Publications to them are sent in order, one after the other: two at
 * the same time would overtake each other if a socket closes between them.
 */
export class Audience {
  readonly connections = new Set<SocketConnection>();
  private waiting: Publication[] = [];
  private isSending = false;
  private translated = { from: '', to: '' };

  constructor(private readonly send: (publication: Publication) => Promise<void>) {}

  /**
   * Adds a publication. Returns false if too many wait already; the caller then closes the sockets.
   */
  publish(publication: Publication, maxWaiting: number): boolean {
    if (this.waiting.length >= maxWaiting) return false;
    this.waiting.push(publication);
    if (!this.isSending) void this.drain();
    return true;
  }

  /** Translates a publication, once for all sockets that it goes to. */
  translate(text: string, translation: (text: string) => string): string {
    if (text !== this.translated.from) this.translated = { from: text, to: translation(text) };
    return this.translated.to;
  }

  /**
   * Sends the waiting publications. While bytes wait for some reader, it sends one per turn, so
   * that the kernel has time to accept them.
   */
  private async drain(): Promise<void> {
    this.isSending = true;
    for (let sent = 1; this.connections.size > 0; sent++) {
      const publication = this.waiting.shift();
      if (!publication) break;
      await this.send(publication);
      if (sent % PER_TURN === 0 || this.isBehind) await nextTurn();
    }
    this.waiting = [];
    this.translated = { from: '', to: '' };
    this.isSending = false;
  }

  private get isBehind(): boolean {
    for (const { backlogBytes } of this.connections) if (backlogBytes > 0) return true;
    return false;
  }
}
