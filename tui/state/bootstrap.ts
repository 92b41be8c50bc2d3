import type { Client } from '../../src/client/index.js';
import { olderDaemon, RESTART_ADVICE } from '../../src/client/skew.js';
import { toLoadFailure } from './errors.js';
import type { DeskStore } from './state.js';
import { messageAction } from './ui.js';

/**
 * Loads the daemon's version, the user and the user's organizations. Resolves to the version, or to null on failure, which
 * the connection reports.
 */
export const loadAccount = async (client: Client, store: DeskStore): Promise<string | null> => {
  const [version] = await Promise.all([
    attempt(async () => {
      const { version } = await client.health.get();
      store.queue({ type: 'session.known', version });
      const older = olderDaemon(version, client.url);
      if (older !== null) store.queue(messageAction(`${older} ${RESTART_ADVICE}`, 'warn'));
      return version;
    }),
    attempt(async () => {
      const { username, role } = await client.auth.me();
      store.queue({ type: 'session.known', who: { username, role } });
    }),
    attempt(async () => {
      const { orgs } = await client.orgs.list({ query: { limit: 200 } });
      const slugs = Object.fromEntries(orgs.map(({ id, slug }) => [id, slug]));
      store.queue({ type: 'session.known', orgs: slugs });
    }),
  ]);
  return version;
};

const attempt = async <T>(ask: () => Promise<T>): Promise<T | null> => {
  try {
    return await ask();
  } catch (error) {
    toLoadFailure(error);
    return null;
  }
};
