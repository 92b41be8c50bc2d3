import { lookup as resolveName } from 'node:dns/promises';
import { HttpFailure } from './failure.js';

export type Lookup = (host: string) => Promise<string[]>;

export const lookupWithDetail = (lookup: Lookup, detail: string | null): Lookup => {
  if (detail === null) return lookup;
  return (host) =>
    lookup(host).catch((cause: unknown) => {
      throw new HttpFailure('dns', { host, effectBegan: false, cause, detail });
    });
};

/**
 * getaddrinfo runs in libuv's pool of four threads, shared with files and password hashing (Node:
 * dns, "Implementation considerations").
 */
const AT_ONCE = 3;
const DOUBTFUL = 2;
const REMEMBERED = 1000;

/**
 * A name without a reply blocks a thread for many seconds. So each name is looked up once at a
 * time, and known names do not wait for unknown ones.
 */
export const boundedLookup = (lookup: Lookup): Lookup => {
  const underway = new Map<string, Promise<string[]>>();
  const answered = new Set<string>();
  const waiting: { host: string; start(): void }[] = [];
  const busy = { all: 0, doubtful: 0 };

  const hasRoom = ({ host }: { host: string }): boolean =>
    busy.all < AT_ONCE && (answered.has(host) || busy.doubtful < DOUBTFUL);

  const proceed = (): void => {
    for (let at = waiting.findIndex(hasRoom); at !== -1; at = waiting.findIndex(hasRoom)) {
      for (const { start } of waiting.splice(at, 1)) start();
    }
  };

  const ask = async (host: string): Promise<string[]> => {
    const doubtful = answered.has(host) ? 0 : 1;
    busy.all++;
    busy.doubtful += doubtful;
    answered.delete(host);
    try {
      const addresses = await lookup(host);
      answered.add(host);
      if (answered.size > REMEMBERED) answered.delete(answered.values().next().value ?? '');
      return addresses;
    } finally {
      busy.all--;
      busy.doubtful -= doubtful;
      underway.delete(host);
      proceed();
    }
  };

  return (host) => {
    const known = underway.get(host);
    if (known) return known;
    const pending = new Promise<string[]>((resolve) => {
      waiting.push({ host, start: () => resolve(ask(host)) });
    });
    underway.set(host, pending);
    proceed();
    return pending;
  };
};

export const systemLookup: Lookup = boundedLookup(async (host) =>
  (await resolveName(host, { all: true })).map(({ address }) => address),
);
