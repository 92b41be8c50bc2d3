import { type Agents, MODEL_GRANTS } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Jobs } from '../jobs/module.js';
import { JsonText } from '../kernel/contract/endpoint.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Resource } from '../kernel/route.js';
import type { Operations } from '../operations/module.js';
import { type Outbound, REPLY } from '../outbound/module.js';
import type { Permissions } from '../permissions/module.js';
import type { Hub } from '../realtime/module.js';
import type { DueSource } from '../schedule/module.js';
import type { Secrets } from '../secrets/module.js';
import { hookTable } from '../store/tables/hooks.js';
import { type Tools, toolNameFaults } from '../tools/module.js';
import type { VaultModule } from '../vault/module.js';
import { isDatabaseOnly } from './actions.js';
import { agentExecutions } from './agentexecution.js';
import { type Answers, createAnswers } from './answers.js';
import { createDeleter, createHookDeletion, DELETION_JOB } from './deletion.js';
import { createEvaluator } from './evaluate.js';
import { createExecutor, EXECUTION_JOB } from './execute.js';
import { executionsStore } from './executions/queries.js';
import { executionsResource } from './executions/routes.js';
import { openedHook } from './hook.js';
import { createBacklog } from './inbound/backlog.js';
import { createBackpressure } from './inbound/backpressure.js';
import { createInbox } from './inbound/inbound.js';
import { createDirectory, type Directory } from './inbound/receivinghooks.js';
import { createRefusalLog } from './inbound/refusallog.js';
import { createInlinePreparer } from './inline.js';
import type { CheckMailFolder } from './mailfolder.js';
import { createMailTriggers, type MailTriggers } from './mailtriggers.js';
import { createOwnRuns, type ManualRuns } from './manualruns.js';
import type { PayloadPool } from './payloads/pool.js';
import type { HookPipelines } from './pipelines.js';
import { hooksStore } from './queries.js';
import { type ReceiversDeps, receiversResource } from './receivers/routes.js';
import { failuresStore } from './replays/queries.js';
import { replaysResource } from './replays/routes.js';
import { replayOperation } from './replays/service.js';
import { repliesStore } from './replies/queries.js';
import { createReplyRenderer } from './replies/render.js';
import { publishReply } from './replyservice.js';
import { createReplyTransport } from './replytransport.js';
import { hooksResource } from './routes.js';
import { createHookSchedules, withZones } from './schedule.js';
import { createSenders } from './senders/senders.js';
import { agentEndTriggers, approvalTriggers } from './triggers.js';
import { executionText } from './view.js';

export { judgeConditions } from './conditions.js';
export { newlyGrantedTools } from './grants.js';
export type { CheckMailFolder } from './mailfolder.js';
export type { MailEventField, MailTriggers } from './mailtriggers.js';
export type { ManualRuns } from './manualruns.js';
export type { PayloadPool } from './payloads/pool.js';
export type { ProbeArrival } from './receivers/routes.js';
export { actionFaults, conditionFaults } from './rules.js';
export { lookUp, placeholdersIn, renderDeep, renderMarkdown, splitPath } from './template.js';

export interface Hooks {
  directory: Directory;
  schedules: DueSource;
  /** Reply with the result of an execution, for the transaction that ends what it started. */
  answer: Answers['answer'];
  ownRuns: ManualRuns;
  mailTriggers: MailTriggers;
  run(deps: RunModuleDeps): void;
  /** All hooks, or those with these IDs. */
  load(ids?: string[]): Promise<void>;
  resources(deps: HooksResourcesDeps): {
    receivers: Resource;
    replays: Resource;
    executions: Resource;
    hooks: Resource;
  };
}

export interface HooksModuleDeps {
  hub: Hub;
  jobs: Jobs;
  secrets: Secrets;
  vault: VaultModule;
  outbound: Outbound;
  agents: Agents;
  payloads: PayloadPool;
}

interface RunModuleDeps {
  tools: Tools;
  permissions: Permissions;
  pipelines: HookPipelines;
  concurrency: number;
}

interface HooksResourcesDeps {
  tools: Tools;
  permissions: Permissions;
  operations: Operations;
  pipelines: Pick<HookPipelines, 'check'>;
  counted: ReceiversDeps['counted'];
  probe: ReceiversDeps['probe'];
  publicUrl(): string | null;
  /** null unless others can reach the page at this address. */
  pageAddress(): string | null;
  checkMailFolder: CheckMailFolder;
}

const MAX_BATCH = 256;

export const openHooks = (base: Base, deps: HooksModuleDeps): Hooks => {
  const { store, clock, log, http, boot } = base;
  const { hub, jobs, outbound, agents, payloads } = deps;
  const { vault } = deps.vault;
  const { queue } = jobs;
  const { openSecret, sealSecret } = deps.secrets.sealers.hooks;
  const hooks = {
    ...hooksStore(store),
    deletion: createHookDeletion({ store, clock, boot, log, queue }),
  };
  const directory = createDirectory({ clock, openSecret }, vault.keysOf);
  const evaluate = createEvaluator(payloads.run);
  const precedence = createBackpressure();
  const triggers = { store, clock, queue };
  const replies = repliesStore({ store, clock });
  const answers = createAnswers({ store, clock, directory, evaluate, outgoing: outbound.queue });
  agents.followers.onEnd(agentEndTriggers(triggers));
  agents.followers.onEnd(answers.ofAgent);
  let pageAddress = (): string | null => null;
  const linkOf = (id: string): string | null => {
    const address = pageAddress();
    return address === null ? null : address + pageLink('execution', id);
  };
  const transport = createReplyTransport({
    clock,
    http,
    vault,
    directory,
    replies,
    render: createReplyRenderer(payloads.run, linkOf),
    settled: ({ id, user_id: userId }) => void publishReply({ replies, hub, log }, userId, id),
  });
  outbound.transports.put(REPLY, transport);
  agents.followers.ofExecutions({
    ...agentExecutions({ store, log, hub, outbound }),
    approvalsRequested: approvalTriggers(triggers),
  });
  return {
    directory,
    schedules: createHookSchedules({ store, clock, queue }),
    answer: answers.answer,
    ownRuns: createOwnRuns({ store, clock, queue, hooks }),
    mailTriggers: createMailTriggers(triggers),
    run: ({ tools, permissions, pipelines, concurrency }) => {
      const { toolbox } = tools;
      jobs.limitLanes({
        limitOf: (lane) =>
          lane.startsWith('hook_') ? (directory.concurrencyOf(lane) ?? concurrency) : undefined,
        batchOf: (lane) => {
          const row = directory.byId(lane)?.row;
          if (!row || !isDatabaseOnly(toolbox, openedHook(row))) return 0;
          return Math.min(directory.concurrencyOf(lane) ?? MAX_BATCH, MAX_BATCH);
        },
        precedence,
      });
      const executor = createExecutor({
        store,
        clock,
        http,
        hub,
        boot,
        outbound,
        directory,
        evaluate,
        replies,
        access: {
          models: agents.models,
          toolbox,
          permissionsOf: permissions.permissionsOf,
          vault,
          pipelines,
          folderOf: tools.work.open,
        },
        delayed: queue.delayed,
      });
      queue.handle(EXECUTION_JOB, executor);
      queue.handle(DELETION_JOB, createDeleter({ store, hooks, directory }));
    },
    load: async (ids) => {
      const every = store.db.selectFrom('hooks').select(hookTable.columns);
      const rows = await (ids ? every.where('id', 'in', ids) : every).execute();
      for (const hook of await withZones(store, rows)) directory.put(hook);
    },
    resources: ({ tools, permissions, operations, pipelines, counted, probe, ...more }) => {
      const { publicUrl, checkMailFolder } = more;
      pageAddress = more.pageAddress;
      const failures = failuresStore(store);
      const replays = operations.register(replayOperation({ clock, queue, failures }));
      const { grants } = permissions;
      const { used } = vault;
      const apart = payloads.run;
      const senders = createSenders({ http, clock, log, publicUrl });
      const refusals = createRefusalLog({ clock, directory, addressOf: senders.addressOf });
      const inbox = createInbox({
        store,
        clock,
        log,
        directory,
        queue: createBacklog({ clock, log, queue, outbound, precedence }),
        hub,
        prepare: createInlinePreparer({ store, clock, hub, queue, outbound }),
        senders,
        apart,
        used,
      });
      return {
        receivers: receiversResource({
          inbox: refusals.watching(inbox),
          counted,
          probe,
          tried: refusals.tried,
        }),
        replays: replaysResource({ store, clock, hooks, failures, grants, replays }),
        executions: executionsResource({
          ...executionsStore(store),
          find: async (userId, id) => {
            const found = await hooks.executionById(userId, id);
            return found && new JsonText(executionText(found));
          },
        }),
        hooks: hooksResource({
          hub,
          replies,
          resent: outbound.resent,
          awaited: senders.awaited,
          refusals,
          testing: {
            ...{ store, clock, queue, evaluate, models: agents.models },
            access: {
              toolbox: tools.toolbox,
              permissionsOf: permissions.permissionsOf,
              folderOf: tools.work.open,
            },
          },
          service: {
            hooks,
            clock,
            http,
            vault,
            directory,
            sealSecret,
            openSecret,
            named: {
              models: agents.models.names,
              faultsOfTools: (userId, names) =>
                toolNameFaults(tools.toolbox.of(userId), names, MODEL_GRANTS),
              literalsOf: (userId, id, action) =>
                tools.toolbox.of(userId).find(id, action)?.literal ?? [],
              pipelines,
              hasAddress: () => publicUrl() !== null,
            },
            grants,
            checkMailFolder,
          },
        }),
      };
    },
  };
};
