import Boom from '@hapi/boom';
import type { Request } from '@hapi/hapi';
import type { Config } from './config.js';
import type { Clock } from './kernel/clock.js';
import type { Http } from './kernel/http.js';
import type { Passwords } from './kernel/password.js';
import { createRate } from './kernel/rate.js';
import type { Resource } from './kernel/route.js';
import { scopesOf } from './kernel/scope.js';
import type { Confinement } from './providers/confine/confinement.js';
import { agentsResource } from './resources/agents/routes.js';
import { agentsStore } from './resources/agents/store.js';
import { approvalsResource } from './resources/approvals/routes.js';
import { auditResource } from './resources/audit/routes.js';
import { auditStore } from './resources/audit/store.js';
import { accountsOf } from './resources/auth/accounts.js';
import type { createIdentify } from './resources/auth/identity.js';
import { authResource } from './resources/auth/routes.js';
import { type Exposure, isExposed, TRIES_A_MINUTE } from './resources/auth/rules.js';
import type { AuthDeps } from './resources/auth/service.js';
import type { AuthStore } from './resources/auth/store.js';
import { channelsResource } from './resources/channels/routes.js';
import { channelsStore } from './resources/channels/store.js';
import { chatResource } from './resources/chat/routes.js';
import { clitoolsResource } from './resources/clitools/routes.js';
import { expertsResource } from './resources/experts/routes.js';
import { expertsStore } from './resources/experts/store.js';
import { healthResource } from './resources/health/routes.js';
import { hooksResource } from './resources/hooks/routes.js';
import { hooksStore } from './resources/hooks/store.js';
import { keysResource } from './resources/keys/routes.js';
import { loginsResource } from './resources/logins/routes.js';
import { loginsStore } from './resources/logins/store.js';
import { modelsResource } from './resources/models/routes.js';
import { modelsStore } from './resources/models/store.js';
import { notificationsResource } from './resources/notifications/routes.js';
import { notificationsStore } from './resources/notifications/store.js';
import { passkeysResource } from './resources/passkeys/routes.js';
import { relyingParties } from './resources/passkeys/rules.js';
import { passkeysStore } from './resources/passkeys/store.js';
import { permissionsResource } from './resources/permissions/routes.js';
import { permissionsStore } from './resources/permissions/store.js';
import { providersResource } from './resources/providers/routes.js';
import { providersStore } from './resources/providers/store.js';
import { receiversResource } from './resources/receivers/routes.js';
import { sessionsResource } from './resources/sessions/routes.js';
import { sessionsStore } from './resources/sessions/store.js';
import { skillsResource } from './resources/skills/routes.js';
import { tokensResource } from './resources/tokens/routes.js';
import { tokensStore } from './resources/tokens/store.js';
import { totpResource } from './resources/totp/routes.js';
import { checkLogin } from './resources/totp/service.js';
import { totpStore } from './resources/totp/store.js';
import { unbuiltResource } from './resources/unbuilt/routes.js';
import { invitationsStore } from './resources/users/invitations.js';
import { type LinkDeps, openRegistration } from './resources/users/invites.js';
import { usersResource } from './resources/users/routes.js';
import { usersStore } from './resources/users/store.js';
import { vaultResource } from './resources/vault/routes.js';
import { credentialsStore } from './resources/vault/store.js';
import type { SocketDoor, Sockets } from './resources/ws/door.js';
import { endpoints } from './resources.js';
import { MODEL_GRANTS } from './runtime/agents/admission.js';
import { NoSession, SessionBusy } from './runtime/agents/agent.js';
import { createChat } from './runtime/agents/chat.js';
import type { Rekey } from './runtime/keys/rekey.js';
import type { secretsOf } from './runtime/keys/secrets.js';
import type { Signer } from './runtime/keys/signing.js';
import type { Runtime } from './runtime/runtime.js';
import { faultsOfTools } from './runtime/tools/names.js';
import { createMeter } from './runtime/upkeep/meter.js';
import { createLook } from './runtime/upkeep/parts.js';
import { Unavailable } from './store/protocol.js';
import type { Store } from './store/store.js';
import { version } from './version.js';

/**
 * Channels of `/ws`: the specification's three, and ours for the desk; each with the scope that a
 * personal access token needs for it.
 */
export const CHANNELS = {
  'agent.status': 'agents:read',
  'agent.message': 'agents:read',
  'agent.tool_call': 'agents:read',
  'hook.execution': 'hooks:read',
  approval: 'approvals:read',
  notification: 'notifications:read',
  'tunnel.status': 'tunnel:read',
};

const RETRY_AFTER_S = 5;

/** Errors of the floors below that mean something to a client. */
export const translate = (error: Error): Boom.Boom | null =>
  error instanceof Unavailable
    ? Boom.serverUnavailable('The database cannot be written now; nothing was changed', {
        code: 'storage_unavailable',
        retryAfter: RETRY_AFTER_S,
      })
    : null;

export interface Parts {
  config: Config;
  clock: Clock;
  store: Store;
  http: Http;
  runtime: Runtime;
  sockets: Sockets;
  state: { isDraining: boolean; isParting: boolean; since: number };
  users: AuthStore;
  passwords: Passwords;
  signer: Signer;
  identify: ReturnType<typeof createIdentify>;
  secrets: ReturnType<typeof secretsOf>;
  rekey: Rekey;
  confinement: Confinement | null;
  wait(ms: number): Promise<unknown>;
  /** The port that it listens on. */
  port(): number;
}

/** Every resource with what it needs, each verb handed over by name. */
export const createResources = (
  parts: Parts,
): { resources: Resource[]; meterRequest(request: Request): void } => {
  const { clock, store, runtime, state } = parts;
  const meter = createMeter(gaugesOf(parts));
  const resources = [
    healthOf(parts, meter.text),
    ...accountResources(parts),
    receiversResource({ inbox: runtime.inbox, counted: meter.delivery }),
    hooksOf(parts),
    agentsResource({ ...runtime, agents: agentsStore(store) }),
    expertsResource({
      ...{ experts: expertsStore(store), clock, models: runtime.models },
      faultsOfTools: (names) => faultsOfTools(runtime.toolbox, names),
    }),
    chatResource({ ...runtime, say: createChat(runtime) }),
    approvalsResource(runtime.approvals),
    permissionsResource({ ...runtime, permissions: permissionsStore(store), clock }),
    skillsResource(runtime),
    sessionsResource({ sessions: sessionsStore(store) }),
    ...modelResources(parts),
    notificationsResource({ notifications: notificationsStore(store), clock }),
    auditResource({ audit: auditStore(store) }),
    unbuiltResource(),
  ];
  const meterRequest = ({ method, response }: Request): void => {
    const status = 'statusCode' in response ? response.statusCode : response.output.statusCode;
    meter.request(method, status);
  };
  state.since = clock.now();
  return { resources, meterRequest };
};

const modelResources = (parts: Parts): Resource[] => {
  const { store, runtime, secrets } = parts;
  const reach = { ...parts, ...runtime, ...secrets.models };
  return [
    modelsResource({ ...reach, models: modelsStore(store) }),
    clitoolsResource(runtime),
    providersResource({ ...reach, providers: providersStore(store) }),
  ];
};

const hooksOf = ({ clock, store, runtime, secrets, http }: Parts): Resource =>
  hooksResource({
    ...{ ...runtime, hooks: hooksStore(store), clock, ...secrets.hooks, checkUrl: http.check },
    models: runtime.models.names,
    faultsOfTools: (names) => faultsOfTools(runtime.toolbox, names, MODEL_GRANTS),
    testing: { store, clock, ...runtime },
  });

/** Who somebody is, and the ways to prove it. */
const accountResources = (parts: Parts): Resource[] => {
  const { config, clock, store, runtime, signer, sockets, secrets } = parts;
  const factors = totpStore(store);
  const totpDeps = { factors, clock, ...secrets.totp };
  const deps: AuthDeps = {
    ...parts,
    policy: { ...exposureOf(config), tokenHours: config.tokenHours },
    checkCode: (userId, code) => checkLogin(totpDeps, userId, code),
    tries: createRate(TRIES_A_MINUTE, clock),
    wait: async (ms) => {
      await parts.wait(ms);
    },
  };
  const accounts = accountsOf(deps);
  const tokens = tokensStore(store);
  const shared = { signer, clock, outbox: runtime.outbox, endSession: sockets.endSession };
  const invites = { invitations: invitationsStore(store), clock, accounts };
  const openInvite = openRegistration(invites);
  return [
    authResource({ ...shared, ...deps, ...accounts, openInvite, countTokens: tokens.countLive }),
    usersOf(parts, { ...shared, ...invites }),
    loginsResource({ ...shared, logins: loginsStore(store), tokenHours: config.tokenHours }),
    tokensResource({ ...shared, tokens, accounts, scopes: scopesOf(endpoints) }),
    keysResource(signer),
    totpResource({ ...totpDeps, accounts }),
    vaultResource({
      credentials: credentialsStore(store),
      ...{ clock, accounts, ...secrets.vault, rekey: parts.rekey },
      applied: async () => {
        await runtime.vault.refresh();
        await runtime.registry.refresh();
      },
    }),
    channelsResource({ channels: channelsStore(store), links: runtime.links, accounts }),
    passkeysResource({
      passkeys: passkeysStore(store),
      accounts,
      outbox: runtime.outbox,
      clock,
      relyingParties: () => relyingParties({ port: parts.port(), publicUrl: config.publicUrl }),
    }),
  ];
};

type Shared = LinkDeps &
  Pick<Parameters<typeof usersResource>[0], 'signer' | 'outbox' | 'endSession'>;

/** What admins do with the accounts of others. */
const usersOf = ({ config, store, runtime, sockets }: Parts, shared: Shared): Resource =>
  usersResource({
    ...shared,
    users: usersStore(store),
    endUser: sockets.endUser,
    stopAgents: runtime.control.stopAll,
    publicUrl: config.publicUrl,
    isRegistrationClosed: config.registration === 'closed',
  });

const exposureOf = ({ registration, host, publicUrl, trustedProxies }: Config): Exposure => ({
  registration,
  host,
  publicUrl,
  trustedProxies,
});

const healthOf = (
  { config, clock, store, runtime, state, confinement }: Parts,
  metrics: () => Promise<string>,
): Resource =>
  healthResource({
    version,
    uptimeSeconds: () => Math.max(0, Math.floor((clock.now() - state.since) / 1000)),
    isDraining: () => state.isDraining,
    parts: createLook({
      store,
      clock,
      queue: runtime.queue,
      models: runtime.models,
      home: config.home,
      confinement: confinement?.detail ?? 'off: no confinement works here, so is the shell tool',
    }),
    metrics,
    trustsLoopback: !isExposed(exposureOf(config)),
  });

const gaugesOf = ({ clock, runtime, sockets, state }: Parts) => ({
  jobs_waiting: { help: 'Jobs that wait', read: () => runtime.queue.totals().waiting },
  jobs_running: { help: 'Jobs that run', read: () => runtime.queue.totals().running },
  sockets_open: { help: 'Open sockets on /ws', read: () => sockets.stats().open },
  sockets_slow_total: { help: 'Sockets cut off as slow', read: () => sockets.stats().slow },
  resident_memory_bytes: { help: 'Resident memory', read: () => process.memoryUsage.rss() },
  uptime_seconds: {
    help: 'Seconds since the start',
    read: () => Math.floor((clock.now() - state.since) / 1000),
  },
});

/** What `/ws` needs of the rest: who a token is, and where a chat message goes. */
export const socketDoor = (deps: {
  identify: ReturnType<typeof createIdentify>;
  runtime: Runtime;
}): SocketDoor => {
  const { identify, runtime } = deps;
  const chat = createChat(runtime);
  return {
    identify: async (token) => {
      const who = await identify(token);
      if (!who) return null;
      const { userId, sessionId, expiresAt, scopes, impersonator } = who;
      const actor = impersonator && { actorSessionId: impersonator.sessionId };
      return { userId, sessionId, ...actor, expiresAt: Date.parse(expiresAt), scopes, token };
    },
    message: async (userId, message) => {
      try {
        return await chat(userId, message);
      } catch (error) {
        if (error instanceof NoSession) throw Boom.notFound(error.message);
        if (error instanceof SessionBusy) throw Boom.conflict(error.message);
        throw error;
      }
    },
  };
};
