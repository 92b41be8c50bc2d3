import { mkdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '@hapi/hapi';
import { migrations } from '../migrations/all.js';
import { type Config, variableOf } from './config.js';
import { type Clock, iso, systemClock } from './kernel/clock.js';
import { createHttp, type Http } from './kernel/http.js';
import { mint } from './kernel/ids.js';
import type { Log } from './kernel/log.js';
import { createPasswords } from './kernel/password.js';
import { findConfinement } from './providers/confine/find.js';
import { createCompatible } from './providers/llm/compatible.js';
import { digest } from './providers/llm/digest.js';
import type { Model } from './providers/llm/model.js';
import { createIdentify } from './resources/auth/identity.js';
import { insertUser } from './resources/auth/service.js';
import { type AuthStore, authStore } from './resources/auth/store.js';
import type { Sockets } from './resources/ws/door.js';
import { openSockets } from './resources/ws/sockets.js';
import { loadMasterKey, proveMasterKey } from './runtime/keys/master.js';
import { hookSecrets } from './runtime/keys/secrets.js';
import { openSigner } from './runtime/keys/signing.js';
import { createRuntime, type Runtime } from './runtime/runtime.js';
import { addResources, createServer } from './server.js';
import { OpenRefused } from './store/protocol.js';
import { replayStore } from './store/replays.js';
import { openStore, type Store } from './store/store.js';
import { addExplorer } from './swagger.js';
import { version } from './version.js';
import { CHANNELS, createResources, socketDoor, translate } from './wiring.js';

export interface App {
  server: Server;
  store: Store;
  runtime: Runtime;
  /** What the first start made or changed, for the operator. */
  report: {
    isNewHome: boolean;
    masterKeyFile: string | null;
    schema: number;
    snapshot: string | null;
    migrated: number[];
    models: string[];
    openedInMs: number;
  };
  /** Where it listens. */
  url: string;
  /** Readiness goes first, then what runs ends, sockets close with 1001, and the database is last. */
  close(): Promise<void>;
}

export interface AppOptions {
  config: Config;
  log: Log;
  clock?: Clock;
  /** Percentage of replies that are held against their schema: all of them in tests. */
  checkedReplies?: number;
  /** The database thread ended by itself: nothing can go on. */
  onLost(error: Error): void;
}

/** Opens the daemon: store, keys, providers, runtime, resources, server. OpenRefused says why not. */
export const openApp = async (options: AppOptions): Promise<App> => {
  const { config, log, clock = systemClock, checkedReplies = 0 } = options;
  const since = performance.now();
  makeHome(config.home);
  const master = loadMasterKey(config.home, config.masterKey);
  const store = await openStore(config.home, migrations, options.onLost);
  const http = createHttp({ allow: config.egressAllow });
  try {
    await proveMasterKey(store, master.key);
    const signer = await openSigner(store, master.key, clock);
    const secrets = hookSecrets(master.key);
    const users = authStore(store);
    const passwords = createPasswords();
    await makeFirstAccount({ config, users, passwords, clock });
    const confinement = await findConfinement(config);
    const runtime = createRuntime({
      store,
      clock,
      log,
      http,
      models: modelsOf(config, http),
      confinement,
      openSecret: secrets.openSecret,
      settings: { ...config, boot: mint('boot', clock.now()) },
    });
    const identify = createIdentify(signer, users, clock);
    const replays = replayStore(store, () => iso(clock.now()));
    const server = createServer(
      {
        config,
        log,
        identify,
        replays,
        translate,
        mintRequestId: () => mint('request', clock.now()),
      },
      checkedReplies,
    );
    const sockets = await openSockets(server, socketDoor({ identify, runtime, store }), {
      strategy: 'jwt',
      origins: config.origins,
      channels: CHANNELS,
      clock,
      log: (event, detail) => log.debug(detail, event),
    });
    runtime.hub.follow(sockets.publish);
    const state = { isDraining: false, since: clock.now() };
    const parts = { config, clock, store, http, runtime, sockets, state };
    const accounts = { users, passwords, signer };
    const made = createResources({ ...parts, ...accounts, ...secrets, confinement, wait });
    addResources(server, made.resources, { checkedReplies, replays });
    server.events.on('response', made.meterRequest);
    addExplorer(server, version);
    await runtime.start();
    await listen(server);
    return {
      server,
      store,
      runtime,
      url: server.info.uri,
      report: {
        isNewHome: store.opened.isNew,
        masterKeyFile: master.made,
        schema: store.opened.schema,
        snapshot: store.opened.snapshot,
        migrated: store.opened.migrated,
        models: runtime.models.names(),
        openedInMs: Math.round(performance.now() - since),
      },
      close: () => close(parts, { server, drainMs: config.drainSeconds * 1000 }),
    };
  } catch (error) {
    await http.close();
    await store.close();
    throw error;
  }
};

const makeHome = (home: string): void => {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenRefused(`The home ${home} cannot be made: ${why}`);
  }
};

/** The configured model first, the built-in one always last. */
const modelsOf = (config: Config, http: Http): Model[] => {
  const { modelUrl, modelName } = config;
  if (modelUrl === null) return [digest];
  if (modelName === null) {
    throw new OpenRefused(`${variableOf('modelUrl')} is set: set ${variableOf('modelName')} too`);
  }
  const { modelInputPrice: inputPerMTok, modelOutputPrice: outputPerMTok } = config;
  const isPriced = inputPerMTok > 0 || outputPerMTok > 0;
  const configured = createCompatible({
    name: modelName,
    modelId: modelName,
    baseUrl: modelUrl,
    ...(config.modelKey !== null && { apiKey: config.modelKey }),
    contextWindow: config.modelContext,
    fetch: http.fetchFor(modelUrl),
    ...(isPriced && { price: { inputPerMTok, outputPerMTok } }),
  });
  return [configured, digest];
};

/** The admin of a machine without a person, from the settings; only where nobody is there yet. */
const makeFirstAccount = async (deps: {
  config: Config;
  users: AuthStore;
  passwords: ReturnType<typeof createPasswords>;
  clock: Clock;
}): Promise<void> => {
  const { adminUsername: username, adminPassword: password } = deps.config;
  if (username === null || (await deps.users.hasUsers())) return;
  if (password === null || password.length < 8) {
    const [name, secret] = [variableOf('adminUsername'), variableOf('adminPassword')];
    throw new OpenRefused(`${name} is set: set ${secret} too, 8 characters or more`);
  }
  await insertUser(deps, { username, password });
};

const listen = async (server: Server): Promise<void> => {
  try {
    await server.start();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { host, port } = server.settings;
    if (error.code === 'EADDRINUSE') throw new OpenRefused(`Port ${port} is taken`);
    if (error.code === 'EACCES') throw new OpenRefused(`Port ${port} may not be used`);
    throw new OpenRefused(`Cannot listen on ${host}:${port}: ${error.message}`);
  }
};

const close = async (
  parts: {
    store: Store;
    http: Http;
    runtime: Runtime;
    sockets: Sockets;
    state: { isDraining: boolean };
  },
  { server, drainMs }: { server: Server; drainMs: number },
): Promise<void> => {
  if (parts.state.isDraining) return;
  parts.state.isDraining = true;
  await parts.runtime.stop(drainMs);
  await server.stop({ timeout: 1000 });
  await parts.http.close();
  await parts.store.close();
};
