import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '../../src/client/client.js';
import { saveSession } from '../../src/client/session.js';
import type { Config } from '../../src/config.js';
import { startApp, type TestApp } from '../harness/app.js';
import { type Openai, startOpenai } from '../harness/openai.js';
import { openConfig } from './config.js';
import { adjutant, type Ended, type Surroundings } from './harness.js';

interface Newcomer {
  username: string;
  token: string;
}

/** A real daemon, a config folder of its own, and the CLI that speaks to the one with the other. */
export interface World {
  app: TestApp;
  /** Logged in as the same user as the CLI. */
  client: Client;
  /** Logs both in as a new user, who has nothing: a case of its own without a daemon of its own. */
  arrive(): Promise<Newcomer>;
  /** Logs both in as `ada` again, the admin. */
  admin(): void;
  cli(words: string[], surroundings?: Surroundings): Promise<Ended>;
  /** A file with that text. */
  file(name: string, text: string): Promise<string>;
  stop(): Promise<void>;
}

/** Logged in as `ada`, unless that is left to the test. */
export const openWorld = async ({
  isLoggedIn = true,
  config: settings = {},
}: {
  isLoggedIn?: boolean;
  config?: Partial<Config>;
} = {}): Promise<World> => {
  const app = await startApp({ config: settings });
  const config = await openConfig();
  let count = 0;
  let ada: Newcomer | undefined;
  const enter = ({ username, token }: Newcomer): void => {
    saveSession(app.url, { token, username, expiresAt: '2126-01-01T00:00:00.000Z' });
    world.client = createClient({ url: app.url, token });
  };
  const world: World = {
    app,
    client: createClient({ url: app.url }),
    arrive: async () => {
      const username = `newcomer-${++count}`;
      const self = { username, token: (await app.register(username)).token };
      enter(self);
      return self;
    },
    admin: () => {
      if (ada) enter(ada);
    },
    cli: (words, surroundings) => adjutant([...words, '--server', app.url], surroundings),
    file: async (name, text) => {
      const path = join(config.folder, name);
      await writeFile(path, text);
      return path;
    },
    stop: async () => {
      await config.close();
      await app.stop();
    },
  };
  if (isLoggedIn) ada = { username: 'ada', token: (await app.register('ada')).token };
  world.admin();
  return world;
};

/** A world whose daemon uses a scripted model. */
export const openModelWorld = async (): Promise<World & { model: Openai }> => {
  const model = await startOpenai();
  const world = await openWorld({ config: { modelUrl: model.baseUrl, modelName: 'fake' } });
  const { stop } = world;
  return Object.assign(world, {
    model,
    stop: async () => {
      await stop();
      await model.stop();
    },
  });
};

/** Leaves the world with the model that every daemon has, by default. */
export const forgetModels = async ({ client }: World): Promise<void> => {
  await client.models['set-routing']({ body: { topics: [] } });
  const { models } = await client.models.list();
  for (const { name } of models) {
    if (name !== 'digest') await client.models.delete({ name });
  }
};

/** Leaves the world with no chat platform set up. */
export const forgetPlatforms = async ({ client }: World): Promise<void> => {
  const { platforms } = await client.platforms.list();
  for (const { kind, updatedAt } of platforms) {
    if (updatedAt !== null) await client.platforms.delete({ kind });
  }
};
