import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
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
import { unusedProxy } from './proxy.js';
import { type Opened, resourcesOf } from './resources.js';
import { OpenRefused } from './store/engine/protocol.js';
import { type Store, storeOf } from './store/store.js';

export interface App {
  server: Server;
  store: Store;
  modules: Modules;
  /** A report for the operator of what the start made or changed. */
  report: ReturnType<typeof reportOf>;
  /** The address at which it listens. */
  url: string;
  /** Readiness goes first, then what runs ends, sockets close with 1001, and the database is last. */
  close(): Promise<void>;
}

export interface AppOptions extends BeginOptions {
  /** The newest lines of the log. */
  recent: LogRing;
  clock?: Clock;
  /** Percentage of replies that are held against their schema: all of them in tests. */
  checkedReplies?: number;
  /** The cost of hashing a password; the product's own if left out. */
  passwordCost?: PasswordCost;
  /** Time for clients with a kept connection to hear that it ends, in milliseconds. */
  farewellMs?: number;
  /** Time that a worker thread may take for one payload, in milliseconds. */
  payloadMs?: number;
  /** Left out, it is begun here. */
  begun?: OpenedHome;
}

/** Opens the daemon: the database, then the modules in their order. OpenRefused says why not. */
export const openApp = async (options: AppOptions): Promise<App> => {
  const { config, log, clock = systemClock, farewellMs = 300, checkedReplies = 0 } = options;
  const { since, master, engines, heads } = options.begun ?? beginOpening(options);
  const store = storeOf(await engines);
  const http = createHttp({ allow: config.egressAllow, nameNote: unusedProxy() });
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
    const { resources, replied } = resourcesOf(modules, opened);
    const fastPath = modules.http.serve(resources, { replied, payloads });
    await startModules(modules);
    const proxy = unusedProxy();
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
      report: reportOf({ store, modules, madeKey: master.made, since, setup, settingFaults }),
      close: () => close(base, modules, closing),
    };
  } catch (error) {
    await payloads.close();
    await http.close();
    await store.close();
    throw error;
  }
};

const reportOf = (of: {
  store: Store;
  modules: Modules;
  madeKey: string | null;
  since: number;
  setup: Opened['setup'];
  settingFaults: string[];
}) => {
  const { isNew, schema, snapshot, migrated } = of.store.opened;
  return {
    isNewHome: isNew,
    masterKeyFile: of.madeKey,
    schema,
    snapshot,
    migrated,
    models: of.modules.agents.models.names(),
    /** The address at which others reach it; null: none. */
    publicUrl: of.modules.system.tunnel.address(),
    /** One sentence for each setting that names nothing of use. */
    settingFaults: of.settingFaults,
    openedInMs: Math.round(performance.now() - of.since),
    /** The code that the first account takes; null: none. For the operator's eyes alone. */
    setupCode: of.setup.shown(),
  };
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

/** Time for the last replies of clients that have heard of the end, in milliseconds. */
const LAST_REPLIES_MS = 1000;

/** From here on every reply is the last of its connection. */
const closeAfterReplies = (server: Server): void =>
  server.ext('onPreResponse', ({ response }, h) => {
    if ('isBoom' in response) response.output.headers.connection = 'close';
    else response.header('connection', 'close');
    return h.continue;
  });

/**
 * Admits no new connection, and lets the kept ones end with a reply. Node would cut those that are
 * idle at once, and with them requests that are on the way (RFC 9112, section 9.3.1). Closed, the
 * system resets what it holds for us that we have not accepted or read: right after the event loop
 * has polled there is the least of it.
 */
const drain = async (server: Server, fastPath: FastPath, farewellMs: number): Promise<void> => {
  const { listener } = server;
  if ('closeIdleConnections' in listener) listener.closeIdleConnections = () => undefined;
  await nextTurn();
  listener.close();
  closeAfterReplies(server);
  const drained = fastPath.drain();
  await wait(farewellMs);
  await Promise.race([drained, wait(LAST_REPLIES_MS, undefined, { ref: false })]);
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
  await Promise.all([stopModules(modules, drainMs), wait(farewellMs)]);
  await modules.system.tunnel.end();
  modules.hub.endWaits();
  await drain(server, fastPath, farewellMs);
  await server.stop({ timeout: LAST_REPLIES_MS });
  await payloads.close();
  await http.close();
  await store.close();
};
