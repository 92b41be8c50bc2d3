import type { Config } from '../../src/config.js';
import type { Clock } from '../../src/kernel/clock.js';
import { type Reply, startApp, type TestApp, until } from '../harness/app.js';
import { type Openai, startOpenai } from '../harness/openai.js';

export interface Agent {
  id: string;
  status: string;
  sessionId: string;
  steps: number;
  result: string | null;
  error: string | null;
  usage: { inputTokens: number; outputTokens: number; costUsd: number };
}

export interface AgentEvent {
  id: number;
  type: string;
  agentId: string;
  data: Record<string, unknown>;
  at: string;
}

export interface Message {
  role: string;
  content: string;
  agentId: string | null;
  toolCalls?: { id: string; name: string; arguments: unknown }[];
}

/** Requests of one person, and waits for their effects. */
interface Hands {
  token: string;
  userId: string;
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  spawn(body: object): Promise<Agent>;
  agent(id: string): Promise<Agent>;
  /** The agent, once it has that state; a finished one unless given. */
  reaches(id: string, ...states: string[]): Promise<Agent>;
  events(id: string, query?: string): Promise<AgentEvent[]>;
  messages(sessionId: string): Promise<Message[]>;
}

/** The daemon with a model of our own behind it, and one account: the admin. */
export interface Stage extends TestApp, Hands {
  model: Openai;
}

export const FINISHED = ['completed', 'failed', 'stopped'];

export const startStage = async (
  config: Partial<Config> = {},
  clock?: Clock,
  home?: string,
): Promise<Stage> => {
  const model = await startOpenai();
  const app = await startApp({
    config: { modelUrl: model.baseUrl, modelName: 'fake', drainSeconds: 0, ...config },
    ...(clock && { clock }),
    ...(home !== undefined && { home }),
  });
  const stop = app.stop;
  return Object.assign(app, {
    model,
    ...handsOf(app, await app.register('owner')),
    stop: async () => {
      await stop();
      await model.stop();
    },
  });
};

/** The same daemon in the hands of somebody who registers now. */
export const enterAs = async (stage: Stage, username: string): Promise<Stage> =>
  Object.assign(Object.create(stage), handsOf(stage, await stage.register(username)));

const handsOf = (app: TestApp, { id: userId, token }: { id: string; token: string }): Hands => {
  const ask: Hands['ask'] = (method, path, body) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const agent = async (id: string): Promise<Agent> => (await ask('GET', `/api/agents/${id}`)).body;
  return {
    token,
    userId,
    ask,
    agent,
    spawn: async (body: object) => {
      const { body: spawned, status, text } = await ask('POST', '/api/agents', body);
      if (status !== 201) throw new Error(text);
      return spawned;
    },
    reaches: (id: string, ...states: string[]) =>
      until(
        () => agent(id),
        ({ status }) => (states.length > 0 ? states : FINISHED).includes(status),
      ),
    events: async (id: string, query = '') =>
      (await ask('GET', `/api/agents/${id}/events${query}`)).body.events,
    messages: async (sessionId: string) =>
      (await ask('GET', `/api/sessions/${sessionId}/messages?limit=200`)).body.messages,
  };
};

/** Removes every agent of whose hands these are, and with it what still runs of it. */
export const removeAgents = async ({ ask }: Pick<Stage, 'ask'>): Promise<void> => {
  const { body } = await ask('GET', '/api/agents?limit=200');
  for (const { id } of body.agents) await ask('DELETE', `/api/agents/${id}`);
};

/** A tool call as a model makes it. */
export const call = (name: string, args: unknown = {}, id = `call_${name}`) => ({
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});
