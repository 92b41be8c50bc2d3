import Boom from '@hapi/boom';
import { auditStore } from '../accounts/audit/queries.js';
import { auditResource } from '../accounts/audit/routes.js';
import { MODEL_GRANTS } from '../agents/admission.js';
import { chatResource } from '../agents/chat/routes.js';
import { createChat } from '../agents/chat.js';
import { agentsStore } from '../agents/queries.js';
import { agentsResource } from '../agents/routes.js';
import { approvalsResource } from '../approvals/routes.js';
import { sessionsStore } from '../conversations/queries.js';
import { sessionsResource } from '../conversations/routes.js';
import { expertsStore } from '../experts/queries.js';
import { expertsResource } from '../experts/routes.js';
import { hooksStore } from '../hooks/queries.js';
import { receiversResource } from '../hooks/receivers/routes.js';
import { hooksResource } from '../hooks/routes.js';
import { PoolFull, ThreadLost } from '../kernel/pool.js';
import type { Resource } from '../kernel/route.js';
import { clitoolsResource } from '../models/clitools/routes.js';
import { providersStore } from '../models/providers/queries.js';
import { providersResource } from '../models/providers/routes.js';
import { modelsStore } from '../models/queries.js';
import { modelsResource } from '../models/routes.js';
import { notificationsStore } from '../outbound/notifications/queries.js';
import { notificationsResource } from '../outbound/notifications/routes.js';
import type { GrantRule } from '../permissions/grants.js';
import { permissionsStore } from '../permissions/queries.js';
import { permissionsResource } from '../permissions/routes.js';
import { skillsResource } from '../skills/routes.js';
import { Unavailable } from '../store/engine/protocol.js';
import { backupsResource } from '../system/backup/routes.js';
import { logsResource } from '../system/logs/routes.js';
import { createMeter } from '../system/maintenance/meter.js';
import { unbuiltResource } from '../system/unbuilt/routes.js';
import { faultsOfTools } from '../tools/names.js';
import { accountResources } from './accounts.js';
import { createGrantRule } from './grants.js';
import { gaugesOf, healthResources } from './health.js';
import { messengerResources } from './messengers.js';
import { outboxOf } from './outbox.js';
import type { Parts } from './parts.js';
import { tunnelResources } from './tunnel.js';
import { webhookResources } from './webhooks.js';

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
