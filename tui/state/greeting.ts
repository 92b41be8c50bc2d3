import type { Client } from '../../src/client/index.js';
import type { DeskStore } from './state.js';
import { troubleOf } from './trouble.js';

/** Who one is, and what answers; the connection itself tells what is wrong with it. */
export const greet = async (client: Client, store: DeskStore): Promise<void> => {
  try {
    const [{ version }, { username, role }] = await Promise.all([
      client.health.get(),
      client.auth.me(),
    ]);
    store.queue({ type: 'session.known', version, who: { username, role } });
  } catch (error) {
    const { status, message } = troubleOf(error);
    if (status !== 401) return;
    store.queue({ type: 'session.linked', link: { is: 'refused', reason: message } });
  }
};
