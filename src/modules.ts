import { migrations } from '../migrations/all.js';
import { openAccounts } from './accounts/module.js';
import { openAgents } from './agents/module.js';
import { openApprovals } from './approvals/module.js';
import type { Base } from './base.js';
import { openChannels } from './channels/module.js';
import { type Config, loginsFolder, variableOf } from './config.js';
import { openConversations } from './conversations/module.js';
import { type Documents, openDocuments } from './documents/module.js';
import { openExperts } from './experts/module.js';
import { openFolders } from './folders/module.js';
import { openHooks, type PayloadPool } from './hooks/module.js';
import { openHttp } from './http/module.js';
import { openJobs } from './jobs/module.js';
import type { LogRing } from './kernel/ring.js';
import type { Resource } from './kernel/route.js';
import { scopesOf } from './kernel/scope.js';
import { openKnowledge } from './knowledge/module.js';
import { openMemories } from './memories/module.js';
import { openModels } from './models/module.js';
import { openOperations } from './operations/module.js';
import { openOutbound } from './outbound/module.js';
import { openPermissions } from './permissions/module.js';
import { openPipelines } from './pipelines/module.js';
import { findConfinement } from './providers/confine/find.js';
import { createPageAccess } from './providers/pages/access.js';
import { createWebSearch } from './providers/search/search.js';
import { openReader } from './reader/module.js';
import { openRealtime } from './realtime/module.js';
import { openRecurring } from './recurring/module.js';
import { openResearch } from './research/module.js';
import { openSchedule } from './schedule/module.js';
import { type MasterKey, openSecrets } from './secrets/module.js';
import { openSkills } from './skills/module.js';
import type { OutsideHeads } from './store/externalheads.js';
import { openSystem } from './system/module.js';
import { openTasks } from './tasks/module.js';
import { openTools } from './tools/module.js';
import { openVault } from './vault/module.js';
import { version } from './version.js';

interface ModulesOptions {
  config: Config;
  master: MasterKey;
  payloads: PayloadPool;
  checkedReplies: number;
}

/** Opens the modules, each with those before it that it needs. */
export const openModules = async (base: Base, options: ModulesOptions) => {
  const { config, master, payloads, checkedReplies } = options;
  const { dailyCostUsd } = config;
  const confinement = await findConfinement({ allowUnconfined: config.allowUnconfined });
  const hub = openRealtime();
  const schedule = openSchedule(base);
  const jobs = openJobs(base, { concurrency: config.jobConcurrency });
  const operations = openOperations(base, { hub });
  const secrets = await openSecrets(base, master);
  const vault = openVault(base, { secrets });
  const memories = openMemories(base, { hub });
  const knowledge = openKnowledge(base, {
    operations,
    confinement,
    builtinEmbedder: config.builtinEmbedder,
  });
  const documents = openDocuments(base, {
    knowledge,
    operations,
    confinement,
    workers: config.workers,
    documentsGib: config.documentsGib,
  });
  const keyOfSearch = () => vault.vault.newestOfAdmin('search-key');
  const search = createWebSearch({ http: base.http, config, key: keyOfSearch });
  const tools = openTools(base, {
    vault: vault.vault,
    confinement,
    search,
    memories: memories.actions,
    documents: documents.actions,
    knowledge: knowledge.actions,
  });
  const { toolbox } = tools;
  const outbound = openOutbound(base, { hub, operations, vault, secrets });
  const accounts = await openAccounts(base, { config, secrets, outbound });
  const amountOfTexts = knowledge.amount;
  const models = openModels(base, { config, secrets, vault, confinement, amountOfTexts });
  const permissions = openPermissions(base, { toolbox });
  const { permissionsOf } = permissions;
  const folders = openFolders(base, {
    operations,
    knowledge,
    serverFiles: documents.serverFiles,
    permissionsOf,
    settings: {
      roots: config.knowledgeRoots,
      variable: variableOf('knowledgeRoots'),
      backupFolder: config.backupFolder,
      logins: loginsFolder(),
    },
  });
  const approvals = openApprovals(base, { hub, outbound, permissionsOf });
  const experts = openExperts(base, { toolbox });
  const skills = openSkills(base, { secrets, tools, permissions, approvals, confinement, version });
  // These need the base alone, and no other module needs them.
  const independent = [openConversations(base)];
  const agents = openAgents(base, {
    hub,
    jobs,
    tools,
    outbound,
    models,
    approvals,
    experts: experts.experts,
  });
  agents.run({ skills: skills.skills, recall: memories.recall, dailyCostUsd });
  const userCalls = agents.userCalls(dailyCostUsd);
  knowledge.answerWith(userCalls.ask);
  knowledge.embedWith(agents.embedders(dailyCostUsd));
  models.registry.onRead(knowledge.embedAnew);
  const asked = { models: agents.models, userCalls };
  // One for both, so that a host is asked once a second, whoever asks.
  const pages = pageAccessOf(base, documents);
  const reader = openReader(base, { hub, operations, asked, knowledge, pages });
  const web = { search, ...pages };
  const research = openResearch(base, { hub, operations, asked, knowledge, outbound, web });
  const tasks = openTasks(base, { hub, jobs, outbound, agents, experts: experts.experts });
  tools.handle({ research: research.actions, tasks: tasks.actions });
  const channels = openChannels(base, {
    secrets,
    vault,
    outbound,
    approvals,
    agents,
    operations,
    documents,
  });
  const hooks = openHooks(base, { hub, jobs, secrets, vault, outbound, agents, payloads });
  hooks.run({ tools, permissions, concurrency: config.hookConcurrency });
  const pipelines = openPipelines(base, { toolbox, permissions, models: agents.models });
  const recurring = openRecurring(base, { hub, jobs, outbound, agents, hooks, tasks });
  const system = await openSystem(base, {
    config,
    hub,
    secrets,
    vault,
    outbound,
    tools,
    migrations,
  });
  const http = await openHttp(base, {
    config,
    secrets,
    accounts,
    permissions,
    agents,
    system,
    checkedReplies,
  });
  hub.follow(http.sockets.publish);
  agents.deltas.toSockets(http.deltas);
  return {
    confinement,
    hub,
    schedule,
    jobs,
    operations,
    secrets,
    vault,
    memories,
    knowledge,
    documents,
    tools,
    outbound,
    accounts,
    models,
    permissions,
    folders,
    approvals,
    experts,
    skills,
    independent,
    agents,
    reader,
    research,
    tasks,
    channels,
    hooks,
    pipelines,
    recurring,
    system,
    http,
  };
};

const pageAccessOf = ({ http, clock }: Base, { readPage }: Documents) =>
  createPageAccess({ http, now: clock.now, readPage });

/** The opened modules. */
export type Modules = Awaited<ReturnType<typeof openModules>>;

export interface Opened {
  setup: Awaited<ReturnType<Modules['accounts']['openSetup']>>;
  recent: LogRing;
  heads: OutsideHeads;
  state: { isDraining: boolean };
}

/** Builds the resources of all modules, in the order of the API document. */
export const resourcesOf = (
  modules: Modules,
  { setup, recent, heads, state }: Opened,
): { resources: Resource[]; replied(method: string, status: number): void } => {
  const { jobs, operations, confinement, permissions, tools, agents, channels } = modules;
  const { documents, knowledge } = modules;
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
    documents,
    confinement,
    daemon,
  });
  const users = modules.accounts.resources({
    setup,
    reached: { exposure, address, publicUrl, reach, port },
    sockets,
    stopAgents: agents.control.stopAll,
    scopes: () => scopesOf(resources.flatMap(({ contract }) => Object.values(contract))),
  });
  const { accounts } = users;
  const chats = channels.resources({ accounts, publicUrl, port });
  const counted = own.meter.delivery;
  const probe = tunnel.probes.receive;
  const received = modules.hooks.resources({
    tools,
    permissions,
    operations,
    counted,
    probe,
    publicUrl,
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
    ...modules.vault.resources({ accounts }),
    chats.channels,
    users.passkeys,
    received.receivers,
    received.replays,
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
    ...modules.reader.resources(),
    ...modules.research.resources(),
    ...modules.tasks.resources({ address, port }),
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
    own.unbuilt,
  ];
  return { resources, replied: own.meter.request };
};
