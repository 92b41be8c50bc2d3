import type { Client } from '../../src/client/index.js';
import type { ListName } from './rows.js';

interface PassingRequest {
  client: Client;
  signal: AbortSignal;
}

/** Requests that can be aborted. Each list has at most one. */
export const createRequests = (client: Client) => {
  const ends = new Map<ListName, AbortController>();
  const giveUp = (name: ListName): void => {
    ends.get(name)?.abort();
    ends.delete(name);
  };
  return {
    /** Starts a request for a list and aborts the previous one. */
    begin: (name: ListName): PassingRequest => {
      giveUp(name);
      const end = new AbortController();
      ends.set(name, end);
      return { client: client.with({ signal: end.signal }), signal: end.signal };
    },
    giveUp,
    close: (): void => {
      for (const name of [...ends.keys()]) giveUp(name);
    },
  };
};
