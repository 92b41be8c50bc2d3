import { type Client, createClient } from '../../../src/client/client.js';
import { saveSession } from '../../../src/client/session.js';
import { until, untilMatches } from '../../harness/app.js';
import { type NameServer, startNameServer } from '../../harness/dns.js';
import { openTarget, type Target } from '../../harness/target.js';
import { makeFakePrograms, QUICK } from '../../harness/tunnels/fakeprograms.js';
import { openWorld, type World } from '../world.js';

/** Who runs a command. */
export interface Self {
  id: string;
  username: string;
  token: string;
  client: Client;
}

/** A daemon with something of everything, for commands to be tried on. */
export interface Scene {
  world: World;
  /** The admin. */
  ada: Self;
  /** A server that takes what it gets. */
  target: Target;
  /** A server that does not answer. */
  silent: Target;
  /** The name server of the daemon. */
  dns: NameServer;
  /** A name that nothing has. */
  name(): string;
  /** A user without anything. */
  user(): Promise<Self>;
  /** The command line's login from now on. */
  logIn(self: Self): void;
  /** A hook on a webhook that posts a notice; its name. */
  hook(): Promise<string>;
  /** A run of such a hook that has ended. */
  run(): Promise<{ hook: string; execution: string }>;
  /** An agent that has completed. */
  agent(): Promise<string>;
  /** An agent whose model does not answer. */
  busyAgent(): Promise<string>;
  /** A model that does not answer; its name. */
  model(): Promise<string>;
  stop(): Promise<void>;
}

export const openScene = async (): Promise<Scene> => {
  const target = await openTarget();
  const silent = await openTarget();
  silent.answer = () => {};
  const dns = await startNameServer();
  const programs = await makeFakePrograms();
  await programs.add('cloudflared', QUICK);
  const world = await openWorld({
    isLoggedIn: false,
    config: {
      registration: 'open',
      egressAllow: [target.address, silent.address],
      cliPath: [programs.folder],
    },
  });
  const users = newUsers(world);
  const ada = await users('ada');
  let count = 0;
  const name = () => `thing-${++count}`;
  const { client } = ada;
  const model = newModel(client, silent, name);
  const scene: Scene = {
    ...{ world, ada, target, silent, dns, name, model },
    user: () => users(name()),
    logIn: ({ token, username }) =>
      saveSession(world.app.url, { token, username, expiresAt: '2126-01-01T00:00:00.000Z' }),
    hook: () => newHook(client, name()),
    run: () => newRun(client, name()),
    agent: async () =>
      ended(client, (await client.agents.spawn({ body: { prompt: 'Hi', model: 'digest' } })).id),
    busyAgent: async () => {
      const body = { prompt: 'Hi', model: await model() };
      const count = silent.received.length;
      const { id } = await client.agents.spawn({ body });
      await silent.got(count + 1);
      return id;
    },
    stop: async () => {
      await world.stop();
      target.close();
      silent.close();
      dns.stop();
      await programs.remove();
    },
  };
  return scene;
};

const newUsers =
  ({ app }: World) =>
  async (username: string): Promise<Self> => {
    const { id, token } = await app.register(username);
    return { id, username, token, client: createClient({ url: app.url, token }) };
  };

const newModel =
  (client: Client, { url }: Target, name: () => string) =>
  async () => {
    const provider = 'openai-compatible' as const;
    const body = { name: name(), provider, modelId: 'fake-1', baseUrl: url, topics: [] };
    return (await client.models.create({ body })).name;
  };

const newHook = async ({ hooks }: Client, name: string): Promise<string> => {
  await hooks.create({
    body: {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: 'a secret of the scene' },
      action: 'notify',
      actionConfig: { notifyMessage: 'A message that is as long as messages may be: {{event}}' },
    },
  });
  return name;
};

const newRun = async (client: Client, name: string) => {
  const hook = await newHook(client, name);
  const { hooks } = await client.hooks.list({ query: { limit: 200 } });
  const id = hooks.find((each) => each.name === hook)?.id ?? '';
  await client.hooks.test({ id, body: { payload: { n: 1 } } });
  const { executions } = await until(
    () => client.hooks.executions({ id }),
    (found) => found.executions[0]?.status === 'success',
  );
  return { hook, execution: executions[0]?.id ?? '' };
};

const ended = async (client: Client, id: string): Promise<string> => {
  await untilMatches(() => client.agents.get({ id }), { status: 'completed' });
  return id;
};
