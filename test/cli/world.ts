import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '../../src/client/client.js';
import { saveSession } from '../../src/client/session.js';
import type { Config } from '../../src/config.js';
import { startApp, type TestApp } from '../harness/app.js';
import { openConfig } from './config.js';
import { adjutant, type Ended, type Surroundings } from './harness.js';

/** A real daemon, a config folder of its own, and the CLI that speaks to the one with the other. */
export interface World {
  app: TestApp;
  /** Logged in as the same user as the CLI. */
  client: Client;
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
  let token: string | undefined;
  if (isLoggedIn) {
    ({ token } = await app.register('ada'));
    saveSession(app.url, { token, username: 'ada', expiresAt: '2126-01-01T00:00:00.000Z' });
  }
  return {
    app,
    client: createClient({ url: app.url, token }),
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
};
