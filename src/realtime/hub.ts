/** Passes the live events on to the listeners of their topics. Nothing is stored here. */
export const createHub = () => {
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const everyone = new Set<(userId: string, channel: string, data: unknown) => void>();
  const waits = new Set<() => void>();
  let isOver = false;
  return {
    publish: (userId: string, channel: string, data: unknown): void => {
      for (const hear of everyone) hear(userId, channel, data);
      for (const hear of listeners.get(`${userId} ${channel}`) ?? []) hear(data);
    },
    /** Calls back for every publication. The sockets use it. */
    follow: (hear: (userId: string, channel: string, data: unknown) => void): void => {
      everyone.add(hear);
    },
    /**
     * Calls back when all waits must end, at once if they have ended already, until the returned
     * function is called.
     */
    whenOver: (end: () => void): (() => void) => {
      if (isOver) end();
      waits.add(end);
      return () => {
        waits.delete(end);
      };
    },
    /** Ends all waits, because the daemon stops. */
    endWaits: (): void => {
      isOver = true;
      for (const end of waits) end();
    },
    /**
     * Calls back for each publication to that user on that topic, until the returned function is
     * called.
     */
    listen: (userId: string, channel: string, hear: (data: unknown) => void): (() => void) => {
      const key = `${userId} ${channel}`;
      const those = listeners.get(key) ?? new Set();
      listeners.set(key, those.add(hear));
      return () => {
        those.delete(hear);
        if (those.size === 0) listeners.delete(key);
      };
    },
  };
};

export type Hub = ReturnType<typeof createHub>;

export interface PublicationWait {
  userId: string;
  channels: string[];
  /** Returns true if a publication is worth a new read; always true by default. */
  concerns?(data: unknown): boolean;
  ms: number;
  /** A signal that is aborted when the waiting client disconnects. */
  signal: AbortSignal;
}

/**
 * Implements long polling: reads and, while there is nothing, reads again at each publication until
 * `ms` milliseconds have passed. It listens before it reads, so that no publication is missed.
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
  stops.push(hub.whenOver(end));
  const timer = setTimeout(end, ms);
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
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    for (const stop of stops) stop();
  }
};
