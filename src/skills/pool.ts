import type { Clock } from '../kernel/clock.js';
import { orAborted } from '../kernel/gate.js';
import { type McpConnection, McpFailed } from '../providers/mcp/connection.js';

/** Sessions are never shared between users. */
export interface SessionKey {
  server: string;
  userId: string;
}

export interface ServerFailure {
  why: string;
  failures: number;
  retryAtMs: number;
}

interface PooledSession {
  key: SessionKey;
  opening: Promise<McpConnection>;
  giveUp: AbortController;
  users: number;
  usedMs: number;
}

const MOST = 32;
const IDLE_MS = 300_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export const createSessionPool = (deps: {
  open(key: SessionKey, signal: AbortSignal): Promise<McpConnection>;
  clock: Clock;
}) => {
  const slots = new Map<string, PooledSession>();
  const troubles = new Map<string, ServerFailure & SessionKey>();
  const { clock } = deps;
  let isClosed = false;

  const noteTrouble = (key: SessionKey, why: string): void => {
    const failures = (troubles.get(formatSessionKey(key))?.failures ?? 0) + 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
    troubles.set(formatSessionKey(key), { ...key, why, failures, retryAtMs: clock.now() + wait });
  };

  const open = (key: SessionKey): PooledSession => {
    const trouble = troubles.get(formatSessionKey(key));
    if (isClosed)
      throw new McpFailed(
        'unreached',
        'The daemon is stopping. Start the daemon, and then try again',
      );
    if (trouble && trouble.retryAtMs > clock.now()) throw tooSoon(trouble, clock.now());
    if (slots.size >= MOST) void discard(leastRecentlyUsed(slots));
    const giveUp = new AbortController();
    const opening = deps.open(key, giveUp.signal);
    const slot = { key, opening, giveUp, users: 0, usedMs: clock.now() };
    slots.set(formatSessionKey(key), slot);
    watch(slot);
    return slot;
  };

  /** Only for a session that is still in the pool. */
  const watch = (slot: PooledSession): void => {
    const gone = (why: string): void => {
      if (slots.get(formatSessionKey(slot.key)) !== slot) return;
      slots.delete(formatSessionKey(slot.key));
      noteTrouble(slot.key, why);
    };
    slot.opening.then(
      (connection) => connection.ended.then(gone),
      (error: Error) => gone(error.message),
    );
  };

  const discard = async (slot: PooledSession): Promise<void> => {
    if (slots.get(formatSessionKey(slot.key)) === slot) slots.delete(formatSessionKey(slot.key));
    slot.giveUp.abort();
    const connection = await slot.opening.catch(() => null);
    await connection?.close();
  };

  const attempt = async <T>(
    slot: PooledSession,
    signal: AbortSignal,
    work: (on: McpConnection) => Promise<T>,
  ): Promise<T> => {
    slot.users += 1;
    try {
      return await work(await orAborted(slot.opening, signal));
    } catch (error) {
      const hangs = signal.aborted || (error instanceof McpFailed && error.kind === 'silent');
      // A call without a caller must not continue, but others may use the session.
      if (hangs && slot.users === 1) await discard(slot);
      throw error;
    } finally {
      slot.users -= 1;
      slot.usedMs = clock.now();
    }
  };

  /** Errors: McpFailed, the abort reason, those of `work`. */
  const use = async <T>(
    key: SessionKey,
    signal: AbortSignal,
    work: (on: McpConnection) => Promise<T>,
  ): Promise<T> => {
    const before = slots.get(formatSessionKey(key));
    if (before) {
      try {
        return await succeed(key, attempt(before, signal, work));
      } catch (error) {
        // A lost session is reopened once if nothing was done in it.
        const isStale = error instanceof McpFailed && error.kind === 'unreached';
        if (!isStale || before.users > 0) throw error;
        await discard(before);
      }
    }
    return succeed(key, attempt(slots.get(formatSessionKey(key)) ?? open(key), signal, work));
  };

  const succeed = async <T>(key: SessionKey, work: Promise<T>): Promise<T> => {
    const result = await work;
    troubles.delete(formatSessionKey(key));
    return result;
  };

  const dropAll = async (isMeant: (slot: PooledSession) => boolean): Promise<void> => {
    await Promise.all([...slots.values()].filter(isMeant).map(discard));
  };

  return {
    use,
    troubleOf: (server: string): ServerFailure | null =>
      [...troubles.values()].findLast((one) => one.server === server) ?? null,
    drop: async (server: string): Promise<void> => {
      for (const [name, one] of troubles) if (one.server === server) troubles.delete(name);
      await dropAll(({ key }) => key.server === server);
    },
    sweep: () => dropAll(({ users, usedMs }) => users === 0 && usedMs <= clock.now() - IDLE_MS),
    close: async (): Promise<void> => {
      isClosed = true;
      await dropAll(() => true);
    },
  };
};

export type SessionPool = ReturnType<typeof createSessionPool>;

const formatSessionKey = ({ server, userId }: SessionKey): string => `${userId} ${server}`;

const tooSoon = ({ why, retryAtMs }: ServerFailure, now: number): McpFailed => {
  const seconds = Math.ceil((retryAtMs - now) / 1000);
  return new McpFailed('unreached', `${why}. Next attempt in ${seconds} s`);
};

const leastRecentlyUsed = (slots: Map<string, PooledSession>): PooledSession => {
  const idle = [...slots.values()].filter(({ users }) => users === 0);
  const [first] = idle.sort((a, b) => a.usedMs - b.usedMs);
  if (first) return first;
  throw new McpFailed(
    'unreached',
    `The limit of ${MOST} open MCP sessions is reached. Try again later`,
  );
};
