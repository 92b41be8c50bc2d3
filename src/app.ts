import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Server } from '@hapi/hapi';
import { migrations } from '../migrations/all.js';
import { createIdentify } from './accounts/auth/identity.js';
import { authStore } from './accounts/auth/queries.js';
import { createTickets } from './accounts/auth/tickets.js';
import { passkeysPage } from './accounts/passkeys/page.js';
import { tokensStore } from './accounts/tokens/queries.js';
import { invitePage, resetPage } from './accounts/users/page.js';
import { createPayloadPool } from './hooks/payloads/pool.js';
import { addExplorer } from './http/explorer.js';
import type { FastPath } from './http/fastpath.js';
import { addPages } from './http/pages.js';
import { addResources, createServer } from './http/server.js';
import { openSockets } from './http/socket/sockets.js';
import { createAnonymousLimit } from './kernel/anonymouslimit.js';
import { createAuditing } from './kernel/auditrecorder.js';
import { type Clock, iso, systemClock } from './kernel/clock.js';
import { createHttp } from './kernel/http.js';
import { mint } from './kernel/ids.js';
import { createPasswords } from './kernel/password.js';
import type { LogRing } from './kernel/ring.js';
import { configuredModel, patienceOf } from './models/configuration.js';
import { type BeginOptions, beginOpening, type OpenedHome } from './open.js';
import { findConfinement } from './providers/confine/find.js';
import { openCodeDigest } from './secrets/codekey.js';
import type { MasterKey } from './secrets/master.js';
import { auditLog } from './store/auditlog.js';
import { OpenRefused } from './store/engine/protocol.js';
import type { OutsideHeads } from './store/externalheads.js';
import { replayStore } from './store/idempotency.js';
import { type Store, storeOf } from './store/store.js';
import { socketDoor } from './wiring/door.js';
import { makeFirstAccount, makeSetupCode } from './wiring/first.js';
import { openMasterKeys } from './wiring/keys.js';
import type { Parts } from './wiring/parts.js';
import { CHANNELS, createResources, translate } from './wiring/resources.js';
import { createRuntime, type Runtime } from './wiring/runtime.js';
import { runtimeSettings } from './wiring/settings.js';
import { openTunnel, proxyTrust } from './wiring/tunnel.js';

export interface App {
  server: Server;
  store: Store;
  runtime: Runtime;
  /** A report for the operator of what the start made or changed. */
  report: {
    isNewHome: boolean;
    masterKeyFile: string | null;
    schema: number;
    snapshot: string | null;
    migrated: number[];
    models: string[];
    openedInMs: number;
    /** The code that the first account takes; null: none. For the operator's eyes alone. */
    setupCode: { code: string; file: string } | null;
  };
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
  /** Time for clients with a kept connection to hear that it ends, in milliseconds. */
  farewellMs?: number;
  /** Time that a worker thread may take for one payload, in milliseconds. */
  payloadMs?: number;
  /** Left out, it is begun here. */
  begun?: OpenedHome;
}

/** Opens the daemon: store, keys, providers, runtime, resources, server. OpenRefused says why not. */
export const openApp = async (options: AppOptions): Promise<App> => {
  const { config, farewellMs = 300 } = options;
  const { since, master, engines, heads } = options.begun ?? beginOpening(options);
  const store = storeOf(await engines);
  const http = createHttp({ allow: config.egressAllow });
  const payloads = createPayloadPool(options.payloadMs);
  try {
    const base = { ...options, clock: options.clock ?? systemClock, store, http, payloads, heads };
    const { runtime, accounts } = await openRuntime(base, master);
    const { server, fastPath, parts } = await openServer(base, runtime, accounts);
    await runtime.start();
    await listen(server).catch(async (error) => {
      await runtime.stop(0);
      await server.stop({ timeout: 0 });
      throw error;
    });
    await parts.tunnel.begin(parts.port());
    return {
      ...{ server, store, runtime },
      url: server.info.uri,
      report: reportOf({ store, runtime, madeKey: master.made, since, setup: accounts.setup }),
      close: () =>
        close(parts, { server, fastPath, farewellMs, drainMs: config.drainSeconds * 1000 }),
    };
  } catch (error) {
    await payloads.close();
    await http.close();
    await store.close();
    throw error;
  }
};

type AppBase = AppOptions &
  Pick<Parts, 'clock' | 'store' | 'http' | 'payloads'> & { heads: OutsideHeads };

type AccountParts = Pick<
  Parts,
  | 'users'
  | 'passwords'
  | 'signer'
  | 'secrets'
  | 'rekey'
  | 'prove'
  | 'confinement'
  | 'identify'
  | 'tickets'
  | 'tunnel'
  | 'setup'
> & { digestCode(code: string): string };

const openRuntime = async (
  base: AppBase,
  master: MasterKey,
): Promise<{ runtime: Runtime; accounts: AccountParts }> => {
  const { config, store, clock } = base;
  const keys = await openMasterKeys(base, master);
  const { signer, secrets } = keys;
  const users = authStore(store);
  const passwords = createPasswords();
  await makeFirstAccount({ config, users, passwords, clock });
  const digestCode = await openCodeDigest(base, master.keyring);
  const confinement = await findConfinement({ allowUnconfined: config.allowUnconfined });
  const runtime = createRuntime({
    ...base,
    models: {
      configured: configuredModel(config),
      unsealKey: secrets.models.unsealKey,
      patience: patienceOf(config),
    },
    confinement,
    ...openersOf(secrets),
    forgetKeys: signer.forget,
    digestCode,
    masterKeys: () => master.keyring.all.map((key) => Buffer.from(key)),
    migrations,
    settings: runtimeSettings(config, mint('boot', clock.now())),
  });
  const identify = createIdentify({ signer, users, tokens: tokensStore(store), clock });
  const tickets = createTickets({ signer, clock });
  const tunnel = await openTunnel(base, runtime, secrets);
  const setup = await makeSetupCode({ config, users, tunnel, clock });
  return {
    runtime,
    accounts: {
      ...{ users, passwords, ...keys, confinement, identify, tickets, tunnel, setup, digestCode },
    },
  };
};

/** The functions that open sealed values, each for the module that may call it. */
const openersOf = (secrets: AccountParts['secrets']) => ({
  openSecret: secrets.hooks.openSecret,
  openVersion: secrets.vault.openVersion,
  openWebhookSecret: secrets.webhooks.openSecret,
  channelSecrets: secrets.channels,
  mcpSecrets: secrets.mcp,
});

/** Waits without keeping the process alive. */
const pause = (ms: number): Promise<void> => wait(ms, undefined, { ref: false });

const openServer = async (
  base: AppBase,
  runtime: Runtime,
  accounts: AccountParts,
): Promise<{ server: Server; fastPath: FastPath; parts: Parts }> => {
  const { config, log, clock, store, checkedReplies = 0 } = base;
  const { identify, tickets, tunnel } = accounts;
  const digest = (body: string): string => accounts.digestCode(`body:${body}`);
  const replays = replayStore(store, { now: () => iso(clock.now()), digest });
  const mintRequestId = (): string => mint('request', clock.now());
  const trust = proxyTrust(config, tunnel);
  const anonymousLimit = createAnonymousLimit(config.ratePerAddress, { clock, trust });
  const deps = { ...base, identify, replays, translate, mintRequestId, trust, anonymousLimit };
  const server = createServer(deps, checkedReplies);
  const sockets = await openSockets(server, socketDoor({ identify, tickets, runtime }), {
    strategy: 'jwt',
    origins: config.origins,
    channels: CHANNELS,
    ...{ clock, anonymousLimit },
    log: (event, detail) => log.debug(detail, event),
  });
  runtime.hub.follow(sockets.publish);
  const state = { isDraining: false, since: clock.now() };
  const port = (): number => Number(server.info.port);
  const parts: Parts = { ...base, ...accounts, runtime, sockets, state, wait: pause, port };
  const { resources, answered } = createResources(parts);
  const auditing = createAuditing(auditLog(store, { clock, log }));
  const { run: apart } = base.payloads;
  const options = { checkedReplies, replays, auditing, answered, apart };
  const fastPath = addResources(server, resources, { deps, options });
  addExplorer(server);
  addPages(server, [passkeysPage, invitePage, resetPage]);
  return { server, fastPath, parts };
};

const reportOf = (of: {
  store: Store;
  runtime: Runtime;
  madeKey: string | null;
  since: number;
  setup: AccountParts['setup'];
}): App['report'] => {
  const { isNew, schema, snapshot, migrated } = of.store.opened;
  return {
    isNewHome: isNew,
    masterKeyFile: of.madeKey,
    schema,
    snapshot,
    migrated,
    models: of.runtime.models.names(),
    openedInMs: Math.round(performance.now() - of.since),
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
const LAST_ANSWERS_MS = 1000;

/** From here on every answer is the last of its connection. */
const closeAfterAnswers = (server: Server): void =>
  server.ext('onPreResponse', ({ response }, h) => {
    if ('isBoom' in response) response.output.headers.connection = 'close';
    else response.header('connection', 'close');
    return h.continue;
  });

/**
 * Admits no new connection, and lets the kept ones end with an answer. Node would cut those that are
 * idle at once, and with them requests that are on the way (RFC 9112, section 9.3.1). Closed, the
 * system resets what it holds for us that we have not accepted or read: right after the event loop
 * has polled there is the least of it.
 */
const drain = async (server: Server, fastPath: FastPath, farewellMs: number): Promise<void> => {
  const { listener } = server;
  if ('closeIdleConnections' in listener) listener.closeIdleConnections = () => undefined;
  await nextTurn();
  listener.close();
  closeAfterAnswers(server);
  const drained = fastPath.drain();
  await wait(farewellMs);
  await Promise.race([drained, wait(LAST_ANSWERS_MS, undefined, { ref: false })]);
  await nextTurn();
};

interface ShutdownOptions {
  server: Server;
  fastPath: FastPath;
  drainMs: number;
  farewellMs: number;
}

const close = async (
  parts: Parts,
  { server, fastPath, drainMs, farewellMs }: ShutdownOptions,
): Promise<void> => {
  if (parts.state.isDraining) return;
  parts.state.isDraining = true;
  await Promise.all([parts.runtime.stop(drainMs), wait(farewellMs)]);
  await parts.tunnel.end();
  parts.runtime.hub.endWaits();
  await drain(server, fastPath, farewellMs);
  await server.stop({ timeout: LAST_ANSWERS_MS });
  await parts.payloads.close();
  await parts.http.close();
  await parts.store.close();
};
