import type { Server } from '@hapi/hapi';
import { type Accounts, invitePage, passkeysPage, resetPage } from '../accounts/module.js';
import type { Agents, DeltaSockets } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Config } from '../config.js';
import type { PayloadPool } from '../hooks/module.js';
import { createAnonymousLimit } from '../kernel/anonymouslimit.js';
import { createAuditing } from '../kernel/auditrecorder.js';
import { addressSet } from '../kernel/clientaddress.js';
import { iso } from '../kernel/clock.js';
import { mint, orgOf } from '../kernel/ids.js';
import type { Resource } from '../kernel/route.js';
import { type Orgs, ssoPage } from '../orgs/module.js';
import type { Permissions } from '../permissions/module.js';
import type { Secrets } from '../secrets/module.js';
import { auditLog } from '../store/auditlog.js';
import { replayStore } from '../store/idempotency.js';
import type { System } from '../system/module.js';
import { explorer } from './explorer.js';
import type { FastPath } from './fastpath.js';
import { isOwnOrigin } from './origin.js';
import { browserPageRoutes } from './page.js';
import { createPageLogin } from './pagelogin.js';
import { routesOfPage } from './pages.js';
import { addResources, createServer } from './server.js';
import type { Connections } from './socket/connections.js';
import { CHANNELS, createSocketService, DELTA_CHANNEL } from './socket/service.js';
import { openSockets } from './socket/sockets.js';
import { translate } from './translate.js';

export interface HttpModule {
  server: Server;
  sockets: Connections;
  deltas: DeltaSockets;
  port(): number;
  serve(resources: Resource[], options: ServeOptions): FastPath;
}

interface ServeOptions {
  replied(method: string, status: number): void;
  payloads: PayloadPool;
}

export interface HttpModuleDeps {
  config: Config;
  secrets: Secrets;
  accounts: Accounts;
  orgs: Orgs;
  permissions: Permissions;
  agents: Agents;
  system: System;
  checkedReplies: number;
}

export const openHttp = async (base: Base, deps: HttpModuleDeps): Promise<HttpModule> => {
  const { store, clock, log } = base;
  const { config, accounts, orgs, permissions, agents, checkedReplies } = deps;
  const { tunnel } = deps.system;
  const { digestCode } = deps.secrets;
  const { identify } = accounts;
  const digest = (body: string): string => digestCode(`body:${body}`);
  const replays = replayStore(store, { now: () => iso(clock.now()), digest });
  const mintRequestId = (): string => mint('request', clock.now());
  const proxies = addressSet(config.trustedProxies);
  const trust = () => ({ proxies, tunnel: tunnel.trust() });
  const anonymousLimit = createAnonymousLimit(config.ratePerAddress, { clock, trust });
  const serverDeps = {
    config,
    clock,
    log,
    access: {
      identify: async (token: string) => {
        const who = await identify(token);
        // A client that requests one list will request others, and no list may delay the writer
        // thread.
        if (who !== null) await store.openReader();
        return who;
      },
      identifyProvider: async (token: string) => {
        const orgId = await orgs.identifyProvider(token);
        if (orgId !== null) await store.openReader();
        return orgId;
      },
      pageLogin: createPageLogin({ page: config.page, clock, publicUrl: tunnel.publicUrl }),
      anonymousLimit,
    },
    replays,
    translate,
    mintRequestId,
    trust,
    proxies: deps.system.proxies,
  };
  const server = createServer(serverDeps, checkedReplies);
  const sockets = await openSockets(server, createSocketService(accounts, agents, permissions), {
    strategy: 'jwt',
    isAllowedOrigin: (headers) =>
      config.origins.includes(headers.origin ?? '') ||
      (config.page !== 'off' && isOwnOrigin(headers, tunnel.publicUrl())),
    channels: CHANNELS,
    clock,
    anonymousLimit,
    log: (event, detail) => log.debug(detail, event),
  });
  const readersOf = (userId: string) =>
    orgOf(userId) === null ? [userId] : orgs.lastMembers(userId);
  return {
    server,
    sockets,
    deltas: {
      newestReader: (userId) =>
        Math.max(...readersOf(userId).map((reader) => sockets.newestOf(reader, DELTA_CHANNEL)), 0),
      send: (userId, delta) => {
        for (const reader of readersOf(userId)) {
          sockets.publishPassing(reader, DELTA_CHANNEL, delta);
        }
      },
    },
    port: () => Number(server.info.port),
    serve: (resources, { replied, payloads }) => {
      const auditing = createAuditing(auditLog(store, { clock, log }));
      const { organizations } = orgs;
      const apart = payloads.run;
      const options = { checkedReplies, replays, auditing, organizations, replied, apart };
      const pages = [
        explorer,
        ...[passkeysPage, invitePage, resetPage, ssoPage].map(routesOfPage),
        ...browserPageRoutes(config.page),
      ];
      return addResources(server, resources, { deps: serverDeps, options, pages });
    },
  };
};
