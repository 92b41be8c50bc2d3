import Boom from '@hapi/boom';
import { PoolFull, ThreadLost } from './kernel/pool.js';
import type { Resource } from './kernel/route.js';
import { agentsResource } from './resources/agents/routes.js';
import { agentsStore } from './resources/agents/store.js';
import { approvalsResource } from './resources/approvals/routes.js';
import { auditResource } from './resources/audit/routes.js';
import { auditStore } from './resources/audit/store.js';
import { backupsResource } from './resources/backups/routes.js';
import { chatResource } from './resources/chat/routes.js';
import { clitoolsResource } from './resources/clitools/routes.js';
import { expertsResource } from './resources/experts/routes.js';
import { expertsStore } from './resources/experts/store.js';
import { hooksResource } from './resources/hooks/routes.js';
import { hooksStore } from './resources/hooks/store.js';
import { logsResource } from './resources/logs/routes.js';
import { modelsResource } from './resources/models/routes.js';
import { modelsStore } from './resources/models/store.js';
import { notificationsResource } from './resources/notifications/routes.js';
import { notificationsStore } from './resources/notifications/store.js';
import { permissionsResource } from './resources/permissions/routes.js';
import { permissionsStore } from './resources/permissions/store.js';
import { providersResource } from './resources/providers/routes.js';
import { providersStore } from './resources/providers/store.js';
import { receiversResource } from './resources/receivers/routes.js';
import { sessionsResource } from './resources/sessions/routes.js';
import { sessionsStore } from './resources/sessions/store.js';
import { skillsResource } from './resources/skills/routes.js';
import { unbuiltResource } from './resources/unbuilt/routes.js';
import { MODEL_GRANTS } from './runtime/agents/admission.js';
import { createChat } from './runtime/agents/chat.js';
import type { GrantRule } from './runtime/permissions/grants.js';
import { faultsOfTools } from './runtime/tools/names.js';
import { createMeter } from './runtime/upkeep/meter.js';
import { Unavailable } from './store/protocol.js';
import { accountResources } from './wiring/accounts.js';
import { createGrantRule } from './wiring/grants.js';
import { gaugesOf, healthResources } from './wiring/health.js';
import { messengerResources } from './wiring/messengers.js';
import { outboxOf } from './wiring/outbox.js';
import type { Parts } from './wiring/parts.js';
import { tunnelResources } from './wiring/tunnel.js';
import { webhookResources } from './wiring/webhooks.js';

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
export const translate = (error: Error): Boom.Boom | null => {
  const retryAfter = RETRY_AFTER_S;
  if (error instanceof Unavailable) {
    const message = 'The database cannot be written now; nothing was changed';
    return Boom.serverUnavailable(message, { code: 'storage_unavailable', retryAfter });
  }
  if (error instanceof PoolFull || error instanceof ThreadLost) {
    const message = 'The body could not be read now; nothing was changed. Send it again';
    return Boom.serverUnavailable(message, { code: 'body_not_read', retryAfter });
  }
  return null;
};

/** Every resource with what it needs, each verb handed over by name. */
export const createResources = (
  parts: Parts,
): { resources: Resource[]; answered(method: string, status: number): void } => {
  const { clock, store, runtime, state } = parts;
  const meter = createMeter(gaugesOf(parts));
  const grants = createGrantRule(runtime.toolbox);
  const resources = [
    ...healthResources(parts, meter.text),
    logsResource({ ...parts, ...runtime }),
    ...accountResources(parts),
    receiversResource({
      ...{ inbox: runtime.inbox, counted: meter.delivery },
      probe: parts.tunnel.probes.receive,
    }),
    hooksOf(parts, grants),
    agentsResource({ ...runtime, agents: agentsStore(store), grants }),
    expertsResource({
      ...{ experts: expertsStore(store), clock, models: runtime.models },
      faultsOfTools: (names) => faultsOfTools(runtime.toolbox, names),
    }),
    chatResource({ ...runtime, say: createChat(runtime), grants }),
    approvalsResource(runtime.approvals),
    permissionsResource({ ...runtime, permissions: permissionsStore(store), clock, grants }),
    skillsResource({ ...runtime, grants }),
    sessionsResource({ sessions: sessionsStore(store) }),
    ...modelResources(parts),
    ...webhookResources(parts),
    ...messengerResources(parts),
    notificationsResource({ notifications: notificationsStore(store), clock }),
    outboxOf(parts),
    auditResource({ audit: auditStore(store) }),
    backupsResource(runtime),
    tunnelResources(parts),
    unbuiltResource(),
  ];
  state.since = clock.now();
  return { resources, answered: meter.request };
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

const hooksOf = ({ clock, store, runtime, secrets, http }: Parts, grants: GrantRule): Resource =>
  hooksResource({
    ...{ ...runtime, hooks: hooksStore(store), clock, ...secrets.hooks, checkUrl: http.check },
    models: runtime.models.names,
    faultsOfTools: (names) => faultsOfTools(runtime.toolbox, names, MODEL_GRANTS),
    testing: { store, clock, ...runtime },
    grants,
  });
