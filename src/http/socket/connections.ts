import type { Cancel } from '../../kernel/clock.js';
import { Close, type CloseCode, type Publication, type SocketConnection } from './connection.js';
import type { SocketSettings } from './socketserver.js';
import { Audience } from './subscriptions.js';

/** Heartbeat groups: ten thousand pings at once would delay everything else. */
const STEPS = 64;

export class Connections {
  private readonly groups = new Map<SocketConnection, number>();
  private readonly audiences = new Map<string, Audience>();
  /** Null while there is no connection. */
  private endTicks: Cancel | null = null;
  private step = 0;
  private joined = 0;
  private slow = 0;
  private whenEmpty: () => void = () => {};
  private closing: Promise<void> | undefined;

  constructor(private readonly settings: SocketSettings) {}

  get size(): number {
    return this.groups.size;
  }

  get isClosed(): boolean {
    return this.closing !== undefined;
  }

  countOf(userId: string): number {
    return this.audiences.get(userId)?.connections.size ?? 0;
  }

  audienceOf(userId: string): Audience {
    const known = this.audiences.get(userId);
    if (known) return known;
    const audience = new Audience(({ channel }, err) =>
      this.settings.log('ws.unpublished', { userId, channel, err }),
    );
    this.audiences.set(userId, audience);
    return audience;
  }

  add(connection: SocketConnection): void {
    const { clock, limits } = this.settings;
    this.endTicks ??= clock.every(limits.heartbeatMs / STEPS, () => this.tick(), { ref: false });
    this.groups.set(connection, this.joined++ % STEPS);
    this.audienceOf(connection.identity.userId).connections.add(connection);
  }

  remove(connection: SocketConnection): void {
    const { userId } = connection.identity;
    this.groups.delete(connection);
    this.audiences.get(userId)?.connections.delete(connection);
    if (this.countOf(userId) === 0) this.audiences.delete(userId);
    if (this.size > 0) return;
    this.endTicks?.();
    this.endTicks = null;
    this.whenEmpty();
  }

  newestOf = (userId: string, channel: string): number =>
    this.audiences.get(userId)?.newestOf(channel) ?? 0;

  publish = (userId: string, channel: string, data: unknown): void =>
    this.pass(userId, { channel, data });

  /** Skips slow readers instead of closing their sockets. */
  publishPassing = (userId: string, channel: string, data: unknown): void =>
    this.pass(userId, { channel, data, isPassing: true });

  private pass(userId: string, publication: Publication): void {
    const { limits, log } = this.settings;
    const audience = this.audiences.get(userId);
    if (!audience || audience.publish(publication, limits.maxWaiting)) return;
    log('ws.flooded', { userId, waiting: limits.maxWaiting });
    this.endAll(userId, Close.slow, 'The client reads too slowly');
  }

  countSlow(): void {
    this.slow++;
  }

  /**
   * Closes with 4401. No index by session, because a logout is rare and searching 20,000 sockets is
   * fast.
   */
  endSession = (sessionId: string): void => {
    for (const connection of this.groups.keys()) {
      const { sessionId: own, actorSessionId } = connection.identity;
      if (own === sessionId || actorSessionId === sessionId) {
        connection.end(Close.signedOut, 'The session has ended');
      }
    }
  };

  /** Closes with 4401. */
  endUser = (userId: string): void => this.endAll(userId, Close.signedOut, 'The account is closed');

  /** Closes with 1001, so that clients connect and read again what they may see. */
  reconnectUser = (userId: string): void =>
    this.endAll(userId, Close.goingAway, 'A membership has ended');

  /** Closes all with 1001 and resolves when all are gone. Idempotent. */
  close = (): Promise<void> => {
    this.closing ??= this.endEveryone();
    return this.closing;
  };

  /** `slow`: sockets closed since the start because they were too slow. */
  stats = () => ({ open: this.size, users: this.audiences.size, slow: this.slow });

  private tick(): void {
    const { limits, clock } = this.settings;
    const now = clock.now();
    this.step = (this.step + 1) % STEPS;
    for (const [connection, step] of this.groups) {
      if (step === this.step) connection.beat();
      connection.tick(now, limits.heartbeatMs / STEPS / 1000);
    }
  }

  private endEveryone(): Promise<void> {
    for (const connection of this.groups.keys()) {
      connection.end(Close.goingAway, 'The server is stopping');
    }
    return new Promise((resolve) => {
      this.whenEmpty = resolve;
      if (this.size === 0) resolve();
    });
  }

  private endAll(userId: string, code: CloseCode, reason: string): void {
    for (const one of this.audiences.get(userId)?.connections ?? []) one.end(code, reason);
  }
}
