import type { Config } from '../../../src/config.js';
import type { Clock } from '../../../src/kernel/clock.js';
import { type Reply, startApp, type TestApp, until } from '../../harness/app.js';

/** The daemon with an admin and a user without rights. */
export interface Stage extends TestApp {
  admin: string;
  user: string;
  /** As the admin. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Sets up, starts, and waits until it is up. */
  open(settings: object): Promise<Reply['body']>;
  state(): Promise<Reply['body']>;
}

export const startStage = async (config: Partial<Config> = {}, clock?: Clock): Promise<Stage> => {
  const app = await startApp({ config, ...(clock && { clock }) });
  const admin = (await app.register('admin')).token;
  const user = (await app.register('user')).token;
  const ask: Stage['ask'] = (method, path, body) =>
    app.call(method, path, { token: admin, ...(body !== undefined && { body }) });
  const state = async () => (await ask('GET', '/api/tunnel')).body;
  const open: Stage['open'] = async (settings) => {
    const { status, text } = await ask('PUT', '/api/tunnel', settings);
    if (status !== 200) throw new Error(text);
    await ask('POST', '/api/tunnel/start');
    return until(state, ({ status: now }) => now === 'running');
  };
  return Object.assign(app, { admin, user, ask, open, state });
};
