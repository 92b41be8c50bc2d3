import type { Clock } from '../kernel/clock.js';

/** In memory only. */
export const createHub = (clock: Clock) => {
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const everyone = new Set<(userId: string, channel: string, data: unknown) => void>();
  const waits = new Set<() => void>();
  let isOver = false;
  return {
    publish: (userId: string, channel: string, data: unknown): void => {
      for (const listener of everyone) listener(userId, channel, data);
      for (const listener of listeners.get(`${userId} ${channel}`) ?? []) listener(data);
    },
    /** For every publication. Used by the sockets. */
    follow: (listener: (userId: string, channel: string, data: unknown) => void): void => {
      everyone.add(listener);
    },
    /**
     * Called when the hub ends or after `ms`, and at once if the hub has ended. Returns the
     * unsubscribe function.
     */
    whenOver: (end: () => void, ms?: number): (() => void) => {
      if (isOver) end();
      waits.add(end);
      const cancel = ms === undefined ? undefined : clock.after(ms, end);
      return () => {
        cancel?.();
        waits.delete(end);
      };
    },
    /** On shutdown. */
    endWaits: (): void => {
      isOver = true;
      for (const end of waits) end();
    },
    /** Returns the unsubscribe function. */
    listen: (userId: string, channel: string, listener: (data: unknown) => void): (() => void) => {
      const key = `${userId} ${channel}`;
      const group = listeners.get(key) ?? new Set();
      listeners.set(key, group.add(listener));
      return () => {
        group.delete(listener);
        if (group.size === 0) listeners.delete(key);
      };
    },
  };
};

export type Hub = ReturnType<typeof createHub>;

export interface PublicationWait {
  userId: string;
  channels: string[];
  /** Whether a publication requires a new read. Default true. */
  concerns?(data: unknown): boolean;
  ms: number;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/**
 * Long polling: reads again at each publication until `ms` have passed. Listens before it reads, so
 * that no publication is missed.
 */
export const readOrWait = async <T>(
  hub: Pick<Hub, 'listen' | 'whenOver'>,
  { userId, channels, concerns = () => true, ms, signal }: PublicationWait,
  read: () => Promise<T[]>,
): Promise<T[]> => {
  if (ms === 0) return read();
  let wake = (): void => undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    wake();
  };
  const stops = channels.map((channel) =>
    hub.listen(userId, channel, (data) => {
      if (concerns(data)) wake();
    }),
  );
  stops.push(hub.whenOver(end, ms));
  signal.addEventListener('abort', end, { once: true });
  try {
    while (true) {
      const published = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = await read();
      if (found.length > 0 || isOver || signal.aborted) return found;
      await published;
    }
  } finally {
    signal.removeEventListener('abort', end);
    for (const stop of stops) stop();
  }
};
