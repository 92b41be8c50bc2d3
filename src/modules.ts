import { migrations } from '../migrations/all.js';
import { openAccounts } from './accounts/module.js';
import { openAgents } from './agents/module.js';
import { openApprovals } from './approvals/module.js';
import type { Base } from './base.js';
import { openCapabilities } from './capabilities/module.js';
import { openChannels } from './channels/module.js';
import { type Config, loginsFolder, toVariableName } from './config.js';
import { openConversations } from './conversations/module.js';
import { type Documents, openDocuments } from './documents/module.js';
import { openEmail } from './email/module.js';
import { openExperts } from './experts/module.js';
import { openFolders } from './folders/module.js';
import { openHooks, type PayloadPool } from './hooks/module.js';
import { openHttp } from './http/module.js';
import { openJobs } from './jobs/module.js';
import type { PasswordCost } from './kernel/password.js';
import { openKnowledge } from './knowledge/module.js';
import { openMemories } from './memories/module.js';
import { openModels } from './models/module.js';
import { openOperations } from './operations/module.js';
import { type OwnedWork, openOrgs } from './orgs/module.js';
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
import { openSkills, type Skills } from './skills/module.js';
import { openSystem } from './system/module.js';
import { openTasks } from './tasks/module.js';
import { openTools } from './tools/module.js';
import { openVault } from './vault/module.js';
import { version } from './version.js';
import { openVoice } from './voice/module.js';

interface ModulesOptions {
  config: Config;
  master: MasterKey;
  payloads: PayloadPool;
  checkedReplies: number;
  passwordCost: PasswordCost | undefined;
}

/** In order: each module gets the earlier ones that it needs. */
export const openModules = async (base: Base, options: ModulesOptions) => {
  const { config, master, payloads, checkedReplies } = options;
  const { dailyCostUsd, hookConcurrency: concurrency } = config;
  const confinement = await findConfinement({ allowUnconfined: config.allowUnconfined });
  const hub = openRealtime(base);
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
  const search = setUpWebSearch(base, config, vault);
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
  const accounts = await openAccounts(base, {
    config,
    secrets,
    outbound,
    passwordCost: options.passwordCost,
  });
  const orgs = openOrgs(base, outbound);
  const amountOfTexts = knowledge.amount;
  const models = openModels(base, { config, secrets, vault, confinement, amountOfTexts });
  const own = { operations, models, confinement, config, documents };
  const capabilities = openCapabilities(base, own);
  const permissions = openPermissions(base, { toolbox });
  const { permissionsOf } = permissions;
  const folders = openFolders(base, {
    operations,
    knowledge,
    serverFiles: documents.serverFiles,
    permissionsOf,
    settings: foldersSettings(config),
  });
  const approvals = openApprovals(base, { hub, outbound, permissionsOf });
  const experts = openExperts(base, { toolbox });
  const skills = openSkills(base, { secrets, tools, permissions, approvals, confinement, version });
  // These need only the base, and no other module needs them.
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
  const pages = setUpPageAccess(base, documents);
  const reader = openReader(base, { hub, operations, asked, knowledge, pages });
  const web = { search, ...pages };
  const research = openResearch(base, { hub, operations, asked, knowledge, outbound, web });
  const tasks = openTasks(base, { hub, jobs, outbound, agents, experts: experts.experts });
  tools.handle({ research: research.actions, tasks: tasks.actions });
  const hooks = openHooks(base, { hub, jobs, secrets, vault, outbound, agents, payloads });
  const access = {
    permissions,
    vault: vault.vault,
    research: research.follow,
    answer: hooks.answer,
  };
  const pipelines = openPipelines(base, { hub, jobs, outbound, agents, experts, tools, access });
  hooks.run({ tools, permissions, pipelines: pipelines.starts, concurrency });
  const voice = openVoice(base, { ...own, models: agents.speechModels(dailyCostUsd) });
  const channels = openChannels(base, {
    secrets,
    vault,
    outbound,
    agents,
    operations,
    files: { arrivals: documents.arrivals, voice: voice.messages },
    decisions: { decide: approvals.decide, stages: pipelines.questions, runs: pipelines.recent },
  });
  const questions = { userCalls, isRouted: models.registry.isRouted };
  const mail = { hooks, documents, questions, perHour: config.emailPerHour };
  const email = openEmail(base, { vault, outbound, permissionsOf, operations, mail });
  tools.handle({ email: email.actions });
  const started = { hooks, tasks, pipelines };
  const recurring = openRecurring(base, { hub, jobs, outbound, agents, started });
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
    orgs,
    permissions,
    agents,
    system,
    checkedReplies,
  });
  hub.follow(orgs.toMembers(http.sockets.publish));
  agents.deltas.toSockets(http.deltas);
  return {
    work: ownedWork({
      ...{ hooks, vault, outbound, pipelines, agents, documents, knowledge, operations, models },
      servers: skills.skills.servers,
    }),
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
    orgs,
    models,
    capabilities,
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
    voice,
    channels,
    email,
    hooks,
    pipelines,
    recurring,
    system,
    http,
  };
};

interface OwningModules {
  hooks: ReturnType<typeof openHooks>;
  vault: ReturnType<typeof openVault>;
  outbound: ReturnType<typeof openOutbound>;
  pipelines: ReturnType<typeof openPipelines>;
  agents: ReturnType<typeof openAgents>;
  documents: Documents;
  operations: ReturnType<typeof openOperations>;
  knowledge: ReturnType<typeof openKnowledge>;
  models: ReturnType<typeof openModels>;
  servers: Skills['servers'];
}

/** What belongs to an account beside its rows. */
const ownedWork = ({
  hooks,
  vault,
  outbound,
  pipelines,
  agents,
  documents,
  knowledge,
  operations,
  models,
  servers,
}: OwningModules): OwnedWork => ({
  stop: async (userId) => {
    // First, so that the end of an agent starts no further stage.
    await pipelines.stopAll(userId);
    await agents.control.stopAll(userId);
    await servers.disconnect(userId);
  },
  cancelOperations: operations.cancelAll,
  moveFiles: documents.moveFiles,
  resealed: vault.resealed,
  removeFiles: documents.removeFiles,
  reload: async (ids) => {
    await hooks.load(ids.hooks);
    await outbound.load();
    await vault.vault.refresh();
    knowledge.moved();
  },
  forget: async (userId, ids) => {
    knowledge.moved();
    for (const id of ids.hooks) hooks.directory.remove(id);
    for (const id of ids.webhooks) outbound.forget(userId, id);
    await models.forget(userId);
    await servers.forget(userId);
  },
});

/** The API key may be a credential of an admin. */
const setUpWebSearch = ({ http }: Base, config: Config, { vault }: ReturnType<typeof openVault>) =>
  createWebSearch({ http, config, key: () => vault.newestOfAdmin('search-key') });

const foldersSettings = ({ knowledgeRoots, backupFolder }: Config) => ({
  roots: knowledgeRoots,
  variable: toVariableName('knowledgeRoots'),
  backupFolder,
  logins: loginsFolder(),
});

/** One access for all modules, so that a host is requested once per second by everybody together. */
const setUpPageAccess = ({ http, clock }: Base, { readPage }: Documents) =>
  createPageAccess({ http, clock, readPage });

export type Modules = Awaited<ReturnType<typeof openModules>>;
