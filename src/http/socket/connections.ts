import { Close, type CloseCode, type Wire } from './connection.js';
import type { SocketLimits } from './limits.js';
import type { SocketLog } from './socketserver.js';
import { Audience } from './subscriptions.js';

/** Number of groups for the heartbeat: ten thousand pings at once would delay everything else. */
const STEPS = 64;

interface ConnectionsSettings {
  limits: SocketLimits;
  now(): number;
  log: SocketLog;
  /** Passes a publication to nes. */
  send(userId: string, channel: string, data: unknown): Promise<void>;
}

/** The open connections, and the one timer that all sockets share. */
export class Connections {
  /** Each socket with its group for the heartbeat. */
  private readonly wires = new Map<Wire, number>();
  private readonly audiences = new Map<string, Audience>();
  private readonly timer: NodeJS.Timeout;
  private step = 0;
  private joined = 0;
  private slow = 0;
  private whenEmpty: () => void = () => {};
  private closing: Promise<void> | undefined;

  constructor(private readonly settings: ConnectionsSettings) {
    this.timer = setInterval(() => this.tick(), settings.limits.heartbeatMs / STEPS).unref();
  }

  get size(): number {
    return this.wires.size;
  }

  countOf(userId: string): number {
    return this.audiences.get(userId)?.wires.size ?? 0;
  }

  audienceOf(userId: string): Audience {
    const known = this.audiences.get(userId);
    if (known) return known;
    const audience = new Audience(({ channel, data }) => this.send(userId, channel, data));
    this.audiences.set(userId, audience);
    return audience;
  }

  add(wire: Wire): void {
    this.wires.set(wire, this.joined++ % STEPS);
    this.audienceOf(wire.identity.userId).wires.add(wire);
  }

  remove(wire: Wire): void {
    const { userId } = wire.identity;
    this.wires.delete(wire);
    this.audiences.get(userId)?.wires.delete(wire);
    if (this.countOf(userId) === 0) this.audiences.delete(userId);
    if (this.size === 0) this.whenEmpty();
  }

  publish(userId: string, channel: string, data: unknown): void {
    const { limits, log } = this.settings;
    const audience = this.audiences.get(userId);
    if (!audience || audience.publish({ channel, data }, limits.maxWaiting)) return;
    log('ws.flooded', { userId, waiting: limits.maxWaiting });
    this.endAll(userId, Close.slow, 'More was published than could be sent');
  }

  countSlow(): void {
    this.slow++;
  }

  /**
   * Closes the sockets of a session. There is no index by session: a logout is rare, and 20,000
   * sockets are searched in a moment.
   */
  endSession(sessionId: string): void {
    for (const wire of this.wires.keys()) {
      const { sessionId: own, actorSessionId } = wire.identity;
      if (own === sessionId || actorSessionId === sessionId) {
        wire.end(Close.signedOut, 'The session has ended');
      }
    }
  }

  endUser(userId: string): void {
    this.endAll(userId, Close.signedOut, 'The account is closed');
  }

  /** Closes all sockets and resolves when they are gone. A second call returns the same promise. */
  close(): Promise<void> {
    this.closing ??= this.endEveryone();
    return this.closing;
  }

  stats(): { open: number; users: number; slow: number } {
    return { open: this.size, users: this.audiences.size, slow: this.slow };
  }

  private tick(): void {
    const { limits, now } = this.settings;
    const time = now();
    this.step = (this.step + 1) % STEPS;
    for (const [wire, step] of this.wires) {
      if (step === this.step) wire.beat();
      wire.tick(time, limits.heartbeatMs / STEPS / 1000);
    }
  }

  private endEveryone(): Promise<void> {
    clearInterval(this.timer);
    for (const wire of this.wires.keys()) wire.end(Close.goingAway, 'The server is stopping');
    return new Promise((resolve) => {
      this.whenEmpty = resolve;
      if (this.size === 0) resolve();
    });
  }

  private endAll(userId: string, code: CloseCode, reason: string): void {
    for (const wire of this.audiences.get(userId)?.wires ?? []) wire.end(code, reason);
  }

  private async send(userId: string, channel: string, data: unknown): Promise<void> {
    try {
      await this.settings.send(userId, channel, data);
    } catch (error) {
      this.settings.log('ws.unpublished', { userId, channel, err: error });
    }
  }
}
