import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../migrations/all.js';
import { type App, openApp } from '../../src/app.js';
import { type Config, readConfig } from '../../src/config.js';
import { type Clock, systemClock } from '../../src/kernel/clock.js';
import { createLog } from '../../src/kernel/log.js';
import { createLogRing, type LogRing } from '../../src/kernel/ring.js';
import { loadMasterKey } from '../../src/secrets/master.js';
import { DATABASE } from '../../src/store/engine/protocol.js';
import { openWriter } from '../../src/store/thread/database.js';
import { placeSpeechEngine } from './speech.js';

export { type FrozenClock, frozenClock } from './clock.js';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  body: any;
  text: string;
}

export interface Ask {
  token?: string | undefined;
  headers?: Record<string, string>;
  body?: unknown;
  /** Replaces `application/json`. `null` sends no content type. */
  type?: string | null;
}

export interface TestApp {
  app: App;
  /** Newest log lines. */
  recent: LogRing;
  url: string;
  home: string;
  /** Sends any request and never throws. */
  call(method: string, path: string, ask?: Ask): Promise<Reply>;
  /** Creates an account and its token. The first account is the admin. */
  register(username: string): Promise<{ id: string; token: string }>;
  /** Token of an admin acting as that user. */
  impersonate(adminToken: string, userId: string): Promise<string>;
  restart(over?: Partial<Config>): Promise<void>;
  stop(): Promise<void>;
}

export interface TestOptions {
  config?: Partial<Config>;
  clock?: Clock;
  /** Percentage of replies validated against their schema. Defaults to 100. */
  checkedReplies?: number;
  /** Time limit of a worker thread for one payload, in milliseconds. */
  payloadMs?: number;
  /** Home folder to keep for another start. Defaults to a new one that is removed. */
  home?: string;
}

const OFFLINE = join(tmpdir(), 'adjutant-test-offline');
mkdirSync(OFFLINE, { recursive: true });
const SPEECH = placeSpeechEngine();

export const PASSWORD = 'correct horse battery';

/** Empty database with the newest schema. Copying it takes half the time of the migrations. */
const migratedDatabase = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-schema-'));
  const { db } = await openWriter(folder, migrations);
  db.close();
  return join(folder, DATABASE);
};
let migrated: Promise<string> | undefined;

/** The real daemon on a free port and a new home. Every reply is validated against its schema. */
export const startApp = async ({
  config = {},
  clock,
  home,
  checkedReplies = 100,
  payloadMs,
}: TestOptions = {}): Promise<TestApp> => {
  const folder = home ?? (await mkdtemp(join(tmpdir(), 'adjutant-test-')));
  if (home === undefined) {
    if (config.masterKey == null) loadMasterKey(folder, null);
    migrated ??= migratedDatabase();
    await copyFile(await migrated, join(folder, DATABASE));
  }
  const recent = createLogRing((clock ?? systemClock).now());
  const open = (over: Partial<Config> = {}): Promise<App> =>
    openApp({
      config: readConfig(
        {
          home: folder,
          port: 0,
          logLevel: 'silent',
          ratePerUser: 0,
          ratePerAddress: 0,
          builtinEmbedder: false,
          // Nothing is fetched from the internet unless a test allows it.
          capabilitySource: OFFLINE,
          voicePath: [SPEECH],
          ...config,
          ...over,
        },
        {},
      ),
      log: createLog('info', { ring: recent, to: { write: () => undefined } }),
      recent,
      checkedReplies,
      farewellMs: 10,
      passwordCost: { memoryCost: 64, timeCost: 1, parallelism: 1 },
      ...(clock && { clock }),
      ...(payloadMs !== undefined && { payloadMs }),
      onLost: (error) => {
        throw error;
      },
    });

  const test: TestApp = {
    recent,
    app: await open(),
    url: '',
    home: folder,
    call: (method, path, ask = {}) => send(`${test.url}${path}`, method, ask),
    register: async (username) => {
      const { body, text } = await test.call('POST', '/api/auth/register', {
        body: { username, password: PASSWORD, ...setupCodeOf(folder) },
      });
      if (!body.token) throw new Error(`Not registered: ${text}`);
      return { id: body.user.id, token: body.token };
    },
    impersonate: async (adminToken, userId) => {
      const path = `/api/admin/users/${userId}/impersonate`;
      const reply = await test.call('POST', path, {
        token: adminToken,
        body: { reason: 'a test' },
      });
      return reply.body.token;
    },
    restart: async (over) => {
      await test.app.close();
      test.app = await open(over);
      test.url = test.app.url;
    },
    stop: async () => {
      await test.app.close();
      if (home === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
  test.url = test.app.url;
  return test;
};

/** Setup code for the first account, if the daemon is not purely local. */
export const setupCodeOf = (home: string): { setupCode?: string } => {
  const file = join(home, 'setup-code');
  return existsSync(file) ? { setupCode: readFileSync(file, 'utf8').trim() } : {};
};

const send = async (url: string, method: string, ask: Ask): Promise<Reply> => {
  const { body, type = 'application/json', token, headers = {} } = ask;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(body !== undefined && type !== null && { 'content-type': type }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: parse(text),
    text,
  };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Signature as a forge sends it in `X-Hub-Signature-256`. */
export const sign = (secret: string, body: string | Buffer): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** How many processes share a core, at least one: beside others, everything takes longer. */
const crowding = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** Repeats `ask` until the result is right. Fails with the last result. */
export const until = async <T>(
  ask: () => Promise<T>,
  isRight: (answer: T) => boolean,
  limitMs = 150_000,
): Promise<T> => {
  const began = Date.now();
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 20)) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (Date.now() - began > limitMs * crowding())
      throw new Error(`Never right: ${JSON.stringify(answer)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

/** Waits until a number, or the number of items, is large enough. */
export const untilAtLeast = <T extends number | { length: number }>(
  ask: () => Promise<T>,
  count: number,
): Promise<T> =>
  until(ask, (answer) => (typeof answer === 'number' ? answer : answer.length) >= count);

/** Not mapped to an array for an array. */
type Properties<T> = { [K in Extract<keyof T, PropertyKey>]?: T[K] };

/** Waits until the answer equals a value, or has the given properties. */
export const untilMatches = <T>(
  ask: () => Promise<T>,
  expected: NoInfer<T> | Properties<NoInfer<T>>,
): Promise<T> =>
  until(ask, (answer) =>
    typeof expected === 'object' && expected !== null
      ? Object.entries(expected).every(([key, value]) => Object(answer)[key] === value)
      : answer === expected,
  );
