import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Log } from '../kernel/log.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Model } from '../providers/llm/model.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { JOB as AGENT_JOB } from './agents/agent.js';
import { type AgentControl, createControl } from './agents/control.js';
import { createLoop } from './agents/loop.js';
import { createModels, type Models } from './agents/models.js';
import { type AgentRows, agentRows } from './agents/rows.js';
import { toolsetOf } from './agents/toolset.js';
import { createDirectory, type Directory, type OpenSecret } from './hooks/directory.js';
import { createExecutor, EXECUTION_JOB } from './hooks/execute.js';
import { hookColumns } from './hooks/hook.js';
import { createSchedule, type Schedule } from './hooks/schedule.js';
import { agentEndTriggers } from './hooks/triggers.js';
import { createInbox, type Inbox } from './inbox/inbox.js';
import { createQueue, type Queue } from './jobs/queue.js';
import { createOutbox, type Outbox } from './outbox/outbox.js';
import { createHub, type Hub } from './realtime/hub.js';
import { createToolbox, type Toolbox } from './tools/toolbox.js';
import { createRetention, type Retention } from './upkeep/retention.js';
import { createWork } from './work.js';

export interface RuntimeDeps {
  store: Store;
  clock: Clock;
  log: Log;
  http: Http;
  models: Model[];
  confinement: Confinement | null;
  openSecret: OpenSecret;
  settings: RuntimeSettings;
}

export interface RuntimeSettings {
  home: string;
  boot: string;
  jobConcurrency: number;
  hookConcurrency: number;
  dailyCostUsd: number;
  retentionDays: number;
}

/** What lives longer than a request. */
export interface Runtime {
  hub: Hub;
  queue: Queue;
  outbox: Outbox;
  models: Models;
  toolbox: Toolbox;
  directory: Directory;
  inbox: Inbox;
  rows: AgentRows;
  control: AgentControl;
  schedule: Schedule;
  retention: Retention;
  start(): Promise<void>;
  /** Takes no new work and waits at most so long for what runs. */
  stop(waitMs: number): Promise<void>;
}

const USER_CONCURRENCY = 8;

export const createRuntime = (deps: RuntimeDeps): Runtime => {
  const { store, clock, log, settings } = deps;
  const parts = createParts(deps);
  const { hub, queue, directory } = parts;
  const inbox = createInbox({ store, clock, directory, queue, hub });
  const schedule = createSchedule({ store, clock, queue, log });
  const retention = createRetention({ store, clock, log, ...settings });
  handleJobs(deps, parts);

  return {
    ...parts,
    inbox,
    schedule,
    retention,
    start: async () => {
      const hooks = await store.db.selectFrom('hooks').select(hookColumns).execute();
      for (const hook of hooks) directory.put(hook);
      await queue.start();
      schedule.start();
      retention.start();
    },
    stop: async (waitMs) => {
      schedule.stop();
      retention.stop();
      await queue.stop(waitMs);
    },
  };
};

const createParts = (deps: RuntimeDeps) => {
  const { store, clock, settings } = deps;
  const hub = createHub();
  const directory = createDirectory(deps.openSecret);
  const queue = createQueue({
    ...deps,
    boot: settings.boot,
    concurrency: settings.jobConcurrency,
    limitOf: (lane) =>
      lane.startsWith('hook_')
        ? (directory.concurrencyOf(lane) ?? settings.hookConcurrency)
        : USER_CONCURRENCY,
  });
  const outbox = createOutbox({ store, clock, hub });
  const toolbox = createToolbox({
    ...deps,
    notify: (userId, { title, body, effectId }) =>
      outbox.send(userId, { kind: 'agent_notice', title, body, link: null, effectId }),
  });
  const rows = agentRows(store);
  const work = createWork(settings.home);
  const executionEnded = tellExecution(deps, hub);
  const control = createControl({
    ...{ store, clock, hub, rows, queue, executionEnded },
    removeFolder: ({ user_id, id }) => work.remove(user_id, id),
  });
  return {
    ...{ hub, directory, queue, outbox, toolbox, rows, control, executionEnded },
    models: createModels(deps.models),
    folderOf: work.open,
  };
};

type Parts = ReturnType<typeof createParts>;

const handleJobs = (deps: RuntimeDeps, parts: Parts): void => {
  const { store, clock, settings } = deps;
  const { queue, toolbox } = parts;
  const mayUseShell = async (userId: string): Promise<boolean> => {
    const user = await store.db
      .selectFrom('users')
      .select('role')
      .where('id', '=', userId)
      .executeTakeFirst();
    return user?.role === 'admin';
  };

  queue.handle(
    EXECUTION_JOB,
    createExecutor({
      ...deps,
      ...parts,
      mayUseShell,
      delayed: queue.delayed,
    }),
  );
  queue.handle(
    AGENT_JOB,
    createLoop({
      ...deps,
      ...parts,
      running: parts.control.running,
      toolsOf: async (agent) => toolsetOf(agent, toolbox, await mayUseShell(agent.user_id)),
      folderOf: (agent) => parts.folderOf(agent.user_id, agent.id),
      consequences: agentEndTriggers({ store, clock, queue }),
      dailyCostUsd: settings.dailyCostUsd,
    }),
  );
};

/** An agent that a hook spawned ended, and with it its execution: told to those who follow live. */
const tellExecution =
  ({ store, log }: RuntimeDeps, hub: Hub) =>
  (agent: AgentRow): void => {
    if (agent.execution_id === null) return;
    store.db
      .selectFrom('executions as e')
      .innerJoin('hooks as h', 'h.id', 'e.hook_id')
      .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
      .select(['e.id', 'e.hook_id', 'h.name', 'e.status', 'e.action', 'e.error', 'd.event'])
      .select('e.finished_at')
      .where('e.id', '=', agent.execution_id)
      .executeTakeFirst()
      .then((row) => {
        if (!row) return;
        hub.publish(agent.user_id, 'hook.execution', {
          id: row.id,
          hookId: row.hook_id,
          hookName: row.name,
          event: row.event,
          action: row.action,
          agentId: agent.id,
          status: row.status,
          error: row.error,
          at: row.finished_at,
        });
      })
      .catch((err) => log.warn({ err, execution: agent.execution_id }, 'an end was not told'));
  };
