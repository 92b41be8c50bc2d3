import type { LogRing } from './kernel/ring.js';
import type { Resource } from './kernel/route.js';
import { listEndpointScopes } from './kernel/scope.js';
import type { Modules } from './modules.js';
import type { ExternalHeads } from './store/externalheads.js';

export interface ResourceInput {
  setup: Awaited<ReturnType<Modules['accounts']['openSetup']>>;
  recent: LogRing;
  heads: ExternalHeads;
  state: { isDraining: boolean };
  /** True if the web page is served to other machines. */
  hasPage: boolean;
}

/** In the order of the API document. */
export const createApiResources = (
  modules: Modules,
  { setup, recent, heads, state, hasPage }: ResourceInput,
): { resources: Resource[]; replied(method: string, status: number): void } => {
  const { jobs, operations, confinement, permissions, tools, agents, channels } = modules;
  const { documents, capabilities, knowledge } = modules;
  const { sockets, port } = modules.http;
  const { tunnel, exposure } = modules.system;
  const { address, publicUrl, reach } = tunnel;
  const isDraining = () => state.isDraining;
  const { late } = modules.schedule;
  const daemon = { recent, heads, sockets, isDraining, port, late };
  const own = modules.system.resources({
    jobs,
    agents,
    channels,
    knowledge,
    files: { documents, capabilities, voice: modules.voice },
    confinement,
    daemon,
  });
  const { work } = modules;
  const users = modules.accounts.resources({
    setup,
    reached: { exposure, address, publicUrl, reach, port },
    sockets,
    stopWork: work.stop,
    scopes: () => listEndpointScopes(resources.flatMap(({ contract }) => Object.values(contract))),
  });
  const { accounts } = users;
  const pageAddress = () => (hasPage && reach() === 'verified' ? publicUrl() : null);
  const chats = channels.resources({ accounts, publicUrl, pageAddress, port });
  const counted = own.meter.delivery;
  const probe = tunnel.probes.receive;
  const received = modules.hooks.resources({
    tools,
    permissions,
    operations,
    pipelines: modules.pipelines.starts,
    counted,
    probe,
    publicUrl,
    pageAddress,
    checkMailFolder: modules.email.checkFolder,
  });
  const agent = agents.resources(permissions);
  const sent = modules.outbound.resources();
  const resources: Resource[] = [
    own.health,
    own.doctor,
    own.overview,
    own.logs,
    ...users.resources,
    own.keys,
    users.totp,
    ...modules.orgs.resources({
      accounts,
      managed: users.managed,
      work,
      reached: { exposure, publicUrl, port },
    }),
    ...modules.vault.resources({ accounts }),
    chats.channels,
    chats.push,
    users.passkeys,
    received.receivers,
    received.replays,
    received.executions,
    received.hooks,
    agent.agents,
    ...modules.experts.resources({ models: agents.models }),
    ...modules.pipelines.resources(),
    agent.chat,
    ...modules.approvals.resources(),
    ...permissions.resources(),
    ...modules.skills.resources(),
    ...modules.memories.resources(),
    ...modules.knowledge.resources(),
    ...modules.folders.resources(),
    ...modules.documents.resources(),
    ...modules.independent.flatMap((module) => module.resources()),
    ...modules.models.resources(),
    ...modules.capabilities.resources(),
    ...modules.reader.resources(),
    ...modules.research.resources(),
    ...modules.tasks.resources({ address, port }),
    ...modules.voice.resources(),
    ...modules.email.resources(),
    operations.resources().operations,
    sent.resends,
    sent.webhooks,
    ...chats.platforms,
    sent.notifications,
    sent.outbox,
    users.audit,
    own.backups,
    own.tunnel,
    ...modules.recurring.resources({ tools, permissions }),
  ];
  return { resources, replied: own.meter.request };
};
