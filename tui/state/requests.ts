import type { Client } from '../../src/client/index.js';
import type { ListName } from './rows.js';

/** A client whose calls end when the signal does. */
interface PassingRequest {
  client: Client;
  signal: AbortSignal;
}

/** Creates the requests that are given up: for each list at most one is under way. */
export const createRequests = (client: Client) => {
  const ends = new Map<ListName, AbortController>();
  const giveUp = (name: ListName): void => {
    ends.get(name)?.abort();
    ends.delete(name);
  };
  return {
    /** Begins a request for a list, and gives up the one before it. */
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
