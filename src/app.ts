import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Server } from '@hapi/hapi';
import type { Base } from './base.js';
import { createPayloadPool, type PayloadPool } from './hooks/payloads/pool.js';
import type { FastPath } from './http/fastpath.js';
import { type Clock, systemClock } from './kernel/clock.js';
import { createHttp } from './kernel/http.js';
import { mint } from './kernel/ids.js';
import type { PasswordCost } from './kernel/password.js';
import type { LogRing } from './kernel/ring.js';
import { startModules, stopModules } from './lifecycle.js';
import { type Modules, openModules } from './modules.js';
import { type BeginOptions, beginOpening, type OpenedHome } from './open.js';
import { unusedProxyNote } from './proxy.js';
import { createApiResources, type ResourceInput } from './resources.js';
import { OpenRefused } from './store/engine/protocol.js';
import { createDatabaseStore, type Store } from './store/store.js';

export interface App {
  server: Server;
  store: Store;
  modules: Modules;
  /** What the start created or changed, for the operator. */
  report: ReturnType<typeof buildStartupReport>;
  url: string;
  /** Fail readiness, drain running jobs, close sockets with 1001, close the database. */
  close(): Promise<void>;
}

export interface AppOptions extends BeginOptions {
  recent: LogRing;
  clock?: Clock;
  /** Percentage of replies that are validated against their schema: all of them in tests. */
  checkedReplies?: number;
  /** Cost of hashing a password. Defaults to the production value. */
  passwordCost?: PasswordCost;
  /** Time for clients with keep-alive connections to learn of the shutdown, in milliseconds. */
  farewellMs?: number;
  /** Time limit of a worker thread for one payload, in milliseconds. */
  payloadMs?: number;
  /** A start that was already begun. */
  begun?: OpenedHome;
}

/** Throws OpenRefused. */
export const openApp = async (options: AppOptions): Promise<App> => {
  const { config, log, clock = systemClock, farewellMs = 300, checkedReplies = 0 } = options;
  const { since, master, engines, heads } = options.begun ?? beginOpening(options);
  const store = createDatabaseStore(await engines);
  // Other hosts answer in real time, whatever the clock of the app says.
  const http = createHttp({ allow: config.egressAllow, nameNote: unusedProxyNote() });
  const payloads = createPayloadPool(options.payloadMs);
  const boot = mint('boot', clock.now());
  const base: Base = { store, clock, log, http, boot, home: config.home };
  try {
    const { passwordCost } = options;
    const modules = await openModules(base, {
      config,
      master,
      payloads,
      checkedReplies,
      passwordCost,
    });
    const state = { isDraining: false };
    const { recent } = options;
    const setup = await modules.accounts.openSetup(modules.system.exposure());
    const hasPage = config.page === 'on';
    const opened = { setup, recent, heads, state, hasPage };
    const { resources, replied } = createApiResources(modules, opened);
    const fastPath = modules.http.serve(resources, { replied, payloads });
    await startModules(modules);
    const proxy = unusedProxyNote();
    const settingFaults = [
      ...(await modules.capabilities.settingFaults()),
      ...(proxy === null ? [] : [proxy]),
    ];
    const { server, port } = modules.http;
    await listen(server).catch(async (error) => {
      await stopModules(modules, 0);
      await server.stop({ timeout: 0 });
      throw error;
    });
    await modules.system.tunnel.begin(port());
    const closing = { state, fastPath, payloads, farewellMs, drainMs: config.drainSeconds * 1000 };
    return {
      server,
      store,
      modules,
      url: server.info.uri,
      report: buildStartupReport({
        store,
        modules,
        madeKey: master.made,
        since,
        setup,
        settingFaults,
      }),
      close: () => close(base, modules, closing),
    };
  } catch (error) {
    await payloads.close();
    await http.close();
    await store.close();
    throw error;
  }
};

const buildStartupReport = (of: {
  store: Store;
  modules: Modules;
  madeKey: string | null;
  since: number;
  setup: ResourceInput['setup'];
  settingFaults: string[];
}) => {
  const { isNew, schema, snapshot, migrated } = of.store.opened;
  return {
    isNewHome: isNew,
    masterKeyFile: of.madeKey,
    schema,
    snapshot,
    migrated,
    models: of.modules.agents.models.names(null),
    /** The public address; null if there is none. */
    publicUrl: of.modules.system.tunnel.address(),
    /** One sentence for each invalid setting. */
    settingFaults: of.settingFaults,
    openedInMs: Math.round(performance.now() - of.since),
    /** The code for the first account; null if none is required. It must not be logged. */
    setupCode: of.setup.shown(),
  };
};

const listen = async (server: Server): Promise<void> => {
  try {
    await server.start();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { host, port } = server.settings;
    if (error.code === 'EADDRINUSE')
      throw new OpenRefused(
        `Port ${port} is already in use. Choose another port with ADJUTANT_PORT or --port`,
      );
    if (error.code === 'EACCES')
      throw new OpenRefused(`Permission denied for port ${port}. Choose a port above 1023`);
    throw new OpenRefused(`Cannot listen on ${host}:${port}: ${error.message}`);
  }
};

/** Time for the last replies during the shutdown, in milliseconds. */
const LAST_REPLIES_MS = 1000;

/** Every further reply closes its connection. */
const closeAfterReplies = (server: Server): void =>
  server.ext('onPreResponse', ({ response }, h) => {
    if ('isBoom' in response) response.output.headers.connection = 'close';
    else response.header('connection', 'close');
    return h.continue;
  });

/**
 * Accepts no new connection, and ends keep-alive connections with a reply. Node would close idle ones at
 * once, and with them requests that are on the way (RFC 9112, section 9.3.1). Closing also resets what
 * the system has queued but the daemon has not read; right after polling that is the least.
 */
const drain = async (server: Server, fastPath: FastPath, farewellMs: number): Promise<void> => {
  const { listener } = server;
  if ('closeIdleConnections' in listener) listener.closeIdleConnections = () => undefined;
  await nextTurn();
  listener.close();
  closeAfterReplies(server);
  const drained = fastPath.drain();
  await systemClock.wait(farewellMs);
  await Promise.race([drained, systemClock.wait(LAST_REPLIES_MS, undefined, { ref: false })]);
  await nextTurn();
};

interface Closing {
  state: { isDraining: boolean };
  fastPath: FastPath;
  payloads: PayloadPool;
  farewellMs: number;
  drainMs: number;
}

const close = async (
  { http, store }: Base,
  modules: Modules,
  { state, fastPath, payloads, farewellMs, drainMs }: Closing,
): Promise<void> => {
  if (state.isDraining) return;
  state.isDraining = true;
  const { server } = modules.http;
  await Promise.all([stopModules(modules, drainMs), systemClock.wait(farewellMs)]);
  await modules.system.tunnel.end();
  modules.hub.endWaits();
  await drain(server, fastPath, farewellMs);
  await server.stop({ timeout: LAST_REPLIES_MS });
  await payloads.close();
  await http.close();
  await store.close();
};
