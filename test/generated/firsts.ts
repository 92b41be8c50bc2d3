import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { anthropic } from '../harness/anthropic.js';
import { PASSWORD, type Reply, type TestApp, until } from '../harness/app.js';
import { google } from '../harness/google.js';
import { startEverything } from '../harness/mcp.js';
import { ollama } from '../harness/ollama.js';
import { openaiDialects } from '../harness/openai.js';
import { type Dialect, startDialect } from '../harness/wire.js';
import type { Longest } from './block.js';

/** The first request of its kind that a daemon gets, which loads what answers it. */
export interface First {
  /** The server elsewhere that the daemon asks, where there is one. */
  open?(): Promise<{ url: string; close(): Promise<void> }>;
  ask(app: TestApp, token: string, url: string): Promise<Reply>;
  status: number;
}

const post = (path: string, body: object): Pick<First, 'ask' | 'status'> => ({
  ask: (app, token) => app.call('POST', path, { token, body }),
  status: 200,
});
const get = (path: string): Pick<First, 'ask' | 'status'> => ({
  ask: (app, token) => app.call('GET', path, { token }),
  status: 200,
});

const opened = async (dialect: Dialect) => {
  const wire = await startDialect(dialect, dialect.says({ text: 'Done.' }));
  return { url: wire.baseUrl, close: () => wire.stop() };
};

const models = [...openaiDialects, anthropic, google, ollama].map((dialect): [string, First] => [
  dialect.provider,
  {
    open: () => opened(dialect),
    ask: (app, token, baseUrl) => {
      const body = { provider: dialect.provider, modelId: 'fake-1', baseUrl, apiKey: 'a-key' };
      return app.call('POST', '/api/models/test', { token, body });
    },
    status: 200,
  },
]);

/** The whole of a run, whose answer is streamed. */
const agent: First = {
  open: () => opened(anthropic),
  ask: async (app, token, baseUrl) => {
    const model = { name: 'house', provider: 'anthropic', modelId: 'fake-1', baseUrl, apiKey: 'k' };
    await app.call('POST', '/api/models', { token, body: model });
    const body = { prompt: 'Work', model: 'house' };
    const { id } = (await app.call('POST', '/api/agents', { token, body })).body;
    return until(
      () => app.call('GET', `/api/agents/${id}`, { token }),
      (reply) => reply.body.status === 'completed',
    );
  },
  status: 200,
};

export const firsts: Record<string, First> = {
  ...Object.fromEntries(models),
  agent,
  register: {
    ask: (app) => {
      const body = { username: 'first', password: PASSWORD };
      return app.call('POST', '/api/auth/register', { body });
    },
    status: 201,
  },
  totp: post('/api/auth/totp/setup', { password: PASSWORD }),
  passkey: post('/api/auth/passkey/authenticate', {}),
  metrics: get('/metrics'),
  swagger: get('/swagger.json'),
  mcp: {
    open: async () => {
      const { url, kill } = await startEverything();
      return { url, close: kill };
    },
    ask: (app, token, url) =>
      app.call('POST', '/api/skills/mcp', { token, body: { name: 'everything', url } }),
    status: 201,
  },
};

const PROGRAM = fileURLToPath(new URL('./first.js', import.meta.url));

/** What a daemon in a process of its own, which has loaded nothing yet, takes for such a request. */
export const measureFirst = async (name: string): Promise<Longest> => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, name]);
  return JSON.parse(stdout);
};
