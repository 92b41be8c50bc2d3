import type { Client } from '../../src/client/index.js';
import { olderDaemon, RENEW } from '../../src/client/skew.js';
import type { DeskStore } from './state.js';
import { troubleOf } from './trouble.js';

/**
 * Asks the daemon for its version and for the user, and resolves to the version, or to null if that
 * fails. The connection itself reports what is wrong with it.
 */
export const greet = async (client: Client, store: DeskStore): Promise<string | null> => {
  const [version] = await Promise.all([
    told(async () => {
      const { version } = await client.health.get();
      store.queue({ type: 'session.known', version });
      const older = olderDaemon(version, client.url);
      const message = older === null ? null : { text: `${older} ${RENEW}`, tone: 'warn' as const };
      if (message) store.queue({ type: 'ui.said', message });
      return version;
    }),
    told(async () => {
      const { username, role } = await client.auth.me();
      store.queue({ type: 'session.known', who: { username, role } });
    }),
  ]);
  return version;
};

const told = async <T>(ask: () => Promise<T>): Promise<T | null> => {
  try {
    return await ask();
  } catch (error) {
    troubleOf(error);
    return null;
  }
};
