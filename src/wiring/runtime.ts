import { JOB as AGENT_JOB } from '../agents/agent.js';
import { createAllowances } from '../agents/allowance.js';
import { settleLeft } from '../agents/budget.js';
import { type AgentControl, createControl } from '../agents/control.js';
import { createDelegate } from '../agents/delegate.js';
import { createLoop } from '../agents/loop.js';
import { createModels, type Models } from '../agents/models.js';
import { createNotify, createRestOfNotices, type RestOfNotices } from '../agents/notifytool.js';
import { suiting } from '../agents/offeredtools.js';
import { findWaitingAgent } from '../agents/resume.js';
import { type AgentRows, agentRows } from '../agents/rows.js';
import { createDeltas, type Deltas } from '../agents/textdeltas.js';
import { toolsetOf } from '../agents/toolset.js';
import { type Approvals, createApprovals } from '../approvals/approvals.js';
import { type ChannelSecrets, type Channels, createChannels } from '../channels/channels.js';
import { platformUses } from '../channels/settings.js';
import { createExperts, type Experts } from '../experts/experts.js';
import { createEvaluator, type Evaluator } from '../hooks/evaluate.js';
import { createExecutor, EXECUTION_JOB } from '../hooks/execute.js';
import { createExecutionEvent } from '../hooks/executionevent.js';
import { executionFailure } from '../hooks/failure.js';
import { hookColumnNames } from '../hooks/hook.js';
import { createInbox, type Inbox } from '../hooks/inbound/inbound.js';
import { createDirectory, type Directory } from '../hooks/inbound/receivinghooks.js';
import type { PayloadPool } from '../hooks/payloads/pool.js';
import { tellExecution } from '../hooks/publish.js';
import { createSchedule, type Schedule } from '../hooks/schedule.js';
import { agentEndTriggers, approvalTriggers } from '../hooks/triggers.js';
import { createQueue, type Queue } from '../jobs/queue.js';
import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Log } from '../kernel/log.js';
import { createHealth, type ModelHealths } from '../models/health.js';
import { modelOpener, type OpenModel } from '../models/open.js';
import { createRegistry, type Registry, type RegistryDeps } from '../models/registry.js';
import type { Outbox } from '../outbound/outbox.js';
import { createReminders, type Reminders } from '../outbound/reminders.js';
import type { OutgoingWebhooksDeps } from '../outbound/webhooks/outgoing.js';
import { createPermissionsOf, type PermissionsOf } from '../permissions/effective.js';
import { type CliTools, createCliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Patience } from '../providers/llm/patience.js';
import { createHub, type Hub } from '../realtime/hub.js';
import type { OverlapDeps } from '../secrets/overlap.js';
import type { ServersDeps } from '../skills/servers.js';
import { createSkills, type Skills } from '../skills/skills.js';
import type { Store } from '../store/store.js';
import { type BackupDeps, type Backups, createBackups } from '../system/backup/backups.js';
import { sweepFolders } from '../system/maintenance/folders.js';
import { createRetention, type Retention } from '../system/maintenance/retention.js';
import type { Delegate } from '../tools/agents.js';
import { brokered } from '../tools/broker.js';
import { builtInGroups, createToolbox, type Toolbox } from '../tools/toolbox.js';
import { createWork } from '../tools/workfolders.js';
import { createVault, type Vault, type VaultDeps } from '../vault/vault.js';
import { createOutbound, type Outbound } from './outbound.js';

export interface RuntimeDeps {
  store: Store;
  clock: Clock;
  log: Log;
  http: Http;
  /** The time limits of models, the model of the environment, and the function that opens their keys. */
  models: Pick<RegistryDeps, 'configured' | 'unsealKey'> & { patience: Patience };
  confinement: Confinement | null;
  /** Threads for what is large. */
  payloads: PayloadPool;
  openSecret: OverlapDeps['openSecret'];
  openVersion: VaultDeps['openVersion'];
  openWebhookSecret: OutgoingWebhooksDeps['openSecret'];
  channelSecrets: ChannelSecrets;
  mcpSecrets: Pick<ServersDeps, 'seal' | 'unseal'>;
  /** Deletes the signing keys that are needed no more; resolves to their number. */
  forgetKeys(): Promise<number>;
  digestCode(code: string): string;
  masterKeys: BackupDeps['masterKeys'];
  migrations: BackupDeps['migrations'];
  settings: RuntimeSettings;
}

export interface RuntimeSettings {
  home: string;
  boot: string;
  jobConcurrency: number;
  hookConcurrency: number;
  dailyCostUsd: number;
  retentionDays: number;
  searchUrl: string | null;
  cliPath: string[];
  /** The version of this package, which other services are told. */
  version: string;
  backup: BackupDeps['settings']['backup'];
}

/** The parts of the daemon that live longer than a request. */
export interface Runtime extends Outbound, Channels {
  hub: Hub;
  queue: Queue;
  models: Models;
  registry: Registry;
  modelHealth: ModelHealths;
  openModel: OpenModel;
  cliTools: CliTools;
  toolbox: Toolbox;
  skills: Skills;
  experts: Experts;
  folderOf(userId: string, name: string): Promise<string>;
  directory: Directory;
  evaluate: Evaluator;
  vault: Vault;
  inbox: Inbox;
  rows: AgentRows;
  control: AgentControl;
  approvals: Approvals;
  permissionsOf: PermissionsOf;
  deltas: Deltas;
  schedule: Schedule;
  retention: Retention;
  reminders: Reminders;
  backups: Backups;
  start(): Promise<void>;
  /** Takes no new work and waits at most so long for what runs. */
  stop(waitMs: number): Promise<void>;
}

const USER_CONCURRENCY = 8;

export const createRuntime = (deps: RuntimeDeps): Runtime => {
  const { store, clock, log, settings } = deps;
  const parts = createParts(deps);
  const { hub, queue, directory } = parts;
  const apart = deps.payloads.run;
  const { used } = parts.vault;
  const inbox = createInbox({ store, clock, directory, queue, hub, apart, used });
  const schedule = createSchedule({ store, clock, queue, log });
  const retention = createRetention({
    ...{ ...deps, ...settings },
    sweepFolders: () => sweepFolders(store, parts.work),
    destroyVersions: parts.vault.destroyPassed,
  });
  const backups = createBackups({ ...deps, outbox: parts.outbox });
  handleJobs(deps, parts);
  /** The parts that act by the clock. */
  const watches = [schedule, parts.approvals.expiry, parts.digests, parts.reminders, retention];

  return {
    ...parts,
    inbox,
    schedule,
    retention,
    backups,
    start: async () => {
      const hooks = await store.db.selectFrom('hooks').select(hookColumnNames).execute();
      for (const hook of hooks) directory.put(hook);
      await parts.vault.refresh();
      await parts.startWebhooks();
      await parts.registry.refresh();
      await parts.platformSettings.refresh();
      await parts.skills.start();
      await settleLeft(deps);
      await queue.start();
      await parts.outgoing.start();
      for (const watch of watches) watch.start();
      await backups.start();
    },
    stop: async (waitMs) => {
      await Promise.all(watches.map((watch) => watch.stop()));
      await parts.reception.stop();
      await Promise.all([backups.stop(), queue.stop(waitMs), parts.outgoing.stop(waitMs)]);
      await parts.skills.stop();
    },
  };
};

const createParts = (deps: RuntimeDeps) => {
  const { store, clock, settings } = deps;
  const hub = createHub();
  const { vault, directory } = openReceiving(deps);
  const queue = openQueue(deps, directory);
  const outbound = createOutbound({ ...deps, hub, vault });
  const { outbox, toWebhooks, subscriptions } = outbound;
  const ofPlatform = platformUses(deps.channelSecrets);
  const executionEvent = createExecutionEvent({ store, subscriptions, toWebhooks });
  const work = createWork(settings.home);
  const { patience } = deps.models;
  const { home, cliPath: path } = settings;
  const cliTools = createCliTools({ ...deps, home, path, patience });
  const openModel = modelOpener(deps.http, patience, cliTools);
  const registry = createRegistry({ ...deps.models, store, clock, vault, open: openModel });
  const modelHealth = createHealth(deps);
  const models = createModels(registry, modelHealth);
  const rows = agentRows(store);
  const experts = createExperts(store);
  const delegate = createDelegate({ store, clock, hub, rows, models, experts, queue });
  const tools = createTools(deps, { outbox, delegate, vault, folderOf: work.open });
  const executionEnded = tellExecution(deps, hub);
  const permissionsOf = createPermissionsOf({ store, clock });
  const waitingAgent = findWaitingAgent({ store, clock, hub, rows, queue });
  const approvalDeps = { hub, outbox, toWebhooks, permissionsOf, waitingAgent };
  const approvals = createApprovals({ ...deps, ...approvalDeps });
  const control = createControl({
    ...{ store, clock, hub, rows, queue, executionEnded, executionEvent },
    ...{ approvals: approvals.rows, restOfNotices: tools.restOfNotices },
    removeFolder: ({ user_id, id }) => work.remove(user_id, id),
  });
  return {
    ...{ hub, vault, directory, queue, ...outbound, ...tools, rows, control, executionEnded },
    ...{ executionEvent, approvals, permissionsOf, deltas: createDeltas() },
    reminders: createReminders({ ...deps, outbox, platformUses: ofPlatform }),
    ...createChannels({ ...deps, ...outbound, vault, rows, control, models, approvals }),
    ...{ models, experts, registry, modelHealth, openModel, cliTools },
    ...{ work, folderOf: work.open, evaluate: createEvaluator(deps.payloads.run) },
  };
};

type RuntimeParts = ReturnType<typeof createParts>;

/** Opens the queue of hooks and agents. */
const openQueue = ({ settings, ...deps }: RuntimeDeps, directory: Directory): Queue =>
  createQueue({
    ...deps,
    boot: settings.boot,
    concurrency: settings.jobConcurrency,
    limitOf: (lane) =>
      lane.startsWith('hook_')
        ? (directory.concurrencyOf(lane) ?? settings.hookConcurrency)
        : USER_CONCURRENCY,
  });

const openReceiving = (deps: RuntimeDeps): { vault: Vault; directory: Directory } => {
  const vault = createVault(deps);
  return { vault, directory: createDirectory(deps, vault.keysOf) };
};

/** Opens the built-in tools, and the skills and MCP servers of the home. */
const createTools = (
  deps: RuntimeDeps,
  of: { outbox: Outbox; delegate: Delegate; vault: Vault; folderOf: ServersDeps['folderOf'] },
): { toolbox: Toolbox; skills: Skills; restOfNotices: RestOfNotices } => {
  const builtIn = builtInGroups({
    ...deps,
    ...deps.settings,
    delegate: of.delegate,
    notify: createNotify({ ...deps, outbox: of.outbox }),
  });
  const names = builtIn.map(({ skillId }) => skillId);
  const skills = createSkills({
    ...{ ...deps, ...deps.settings, ...deps.mcpSecrets },
    folderOf: of.folderOf,
    builtIn: names,
  });
  const toolbox = brokered(createToolbox(builtIn, skills.groups), of.vault);
  return { skills, toolbox, restOfNotices: createRestOfNotices({ ...deps, ...of }) };
};

const handleJobs = (deps: RuntimeDeps, parts: RuntimeParts): void => {
  const { store, clock, settings } = deps;
  const { queue, toolbox, skills, permissionsOf } = parts;
  queue.handle(
    EXECUTION_JOB,
    createExecutor({
      ...deps,
      ...parts,
      delayed: queue.delayed,
    }),
  );
  queue.handle(
    AGENT_JOB,
    createLoop({
      ...deps,
      ...parts,
      running: parts.control.running,
      approvals: parts.approvals.rows,
      toolsOf: async (agent) => {
        await skills.keepFresh();
        const suits = suiting(agent, skills.servers.all());
        return toolsetOf(toolbox, await permissionsOf(agent.user_id), suits);
      },
      folderOf: (agent) => parts.folderOf(agent.user_id, agent.id),
      executionFailure: executionFailure(store),
      consequences: parts.answering(agentEndTriggers({ store, clock, queue })),
      approvalConsequences: approvalTriggers({ store, clock, queue }),
      allowancesOf: createAllowances(store, settings),
    }),
  );
};
