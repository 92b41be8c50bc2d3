import type { Config } from '../../src/config.js';
import type { Clock } from '../../src/kernel/clock.js';
import { type Reply, startApp, type TestApp } from '../harness/app.js';

/** The daemon with an admin and a user without rights. */
export interface Stage extends TestApp {
  admin: string;
  user: string;
  /** As the admin. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Registers a model; fails where that is refused. */
  add(name: string, more?: object): Promise<Record<string, unknown>>;
}

export const startStage = async (config: Partial<Config> = {}, clock?: Clock): Promise<Stage> => {
  const app = await startApp({ config, ...(clock && { clock }) });
  const admin = (await app.register('admin')).token;
  const user = (await app.register('user')).token;
  const ask: Stage['ask'] = (method, path, body) =>
    app.call(method, path, { token: admin, ...(body !== undefined && { body }) });
  const add: Stage['add'] = async (name, more = {}) => {
    const given = { name, provider: 'openai-compatible', modelId: 'fake-1', baseUrl: ELSEWHERE };
    const { status, body, text } = await ask('POST', '/api/models', { ...given, ...more });
    if (status !== 201) throw new Error(text);
    return body;
  };
  return Object.assign(app, { admin, user, ask, add });
};

/** Nothing answers there. */
export const ELSEWHERE = 'http://127.0.0.1:9/v1';

/** A model's path. */
export const at = (name: string): string => `/api/models/${encodeURIComponent(name)}`;
