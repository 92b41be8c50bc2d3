import { lookup as resolveName } from 'node:dns/promises';
import { HttpFailure } from './failure.js';

/** A function that returns every address of a host name. */
export type Lookup = (host: string) => Promise<string[]>;

/** Returns the same lookup, whose failures say something more; null: they do not. */
export const notedLookup = (lookup: Lookup, detail: string | null): Lookup => {
  if (detail === null) return lookup;
  return (host) =>
    lookup(host).catch((cause: unknown) => {
      throw new HttpFailure('dns', { host, effectBegan: false, cause, detail });
    });
};

/**
 * The number of lookups that run at once. getaddrinfo runs in libuv's pool of four threads, which
 * files and password hashing share (Node: dns, "Implementation considerations").
 */
const AT_ONCE = 3;
/** The share of these for names whose lookup has not succeeded yet, or failed the last time. */
const DOUBTFUL = 2;
const REMEMBERED = 1000;

/**
 * Returns the same lookup within those bounds. A name that no server answers for holds a thread for
 * many seconds. So each name is looked up once at a time, and names that resolved before do not
 * wait for those that may never resolve.
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
    const asked = new Promise<string[]>((resolve) => {
      waiting.push({ host, start: () => resolve(ask(host)) });
    });
    underway.set(host, asked);
    proceed();
    return asked;
  };
};

/** Resolves names as the machine does for all its programs, its hosts file included. */
export const systemLookup: Lookup = boundedLookup(async (host) =>
  (await resolveName(host, { all: true })).map(({ address }) => address),
);
