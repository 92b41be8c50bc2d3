import Boom from '@hapi/boom';
import { JOB as AGENT_JOB, type Agents, spawnRecord } from '../agents/module.js';
import type { ManualRuns } from '../hooks/module.js';
import { addJob, type Queue } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Outbox } from '../outbound/module.js';
import type { PipelineStarts } from '../pipelines/module.js';
import type { Hub } from '../realtime/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { procedureStep, type Store } from '../store/store.js';
import type { RecurringRunRow, RecurringTaskRow } from '../store/tables/recurringtasks.js';
import type { TasksModule } from '../tasks/module.js';
import type { RecurringConfig } from './contract.js';

type TaskInserter = TasksModule['insertion'];

export interface StartDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  queue: Queue;
  outbox: Outbox;
  models: Agents['models'];
  hooks: ManualRuns;
  made: { insertTask: TaskInserter; pipelines: Pick<PipelineStarts, 'prepare'> };
}

/** A started run: its columns, its transaction steps, and a callback after the commit. */
export interface StartedRun {
  run: Partial<RecurringRunRow> & Pick<RecurringRunRow, 'status'>;
  steps: TransactionStep[];
  committed(): void;
}

type StartAction = (
  task: RecurringTaskRow,
  config: RecurringConfig,
) => StartedRun | Promise<StartedRun>;

/** The message is shown to the owner. */
class StartFailed extends Error {}

/**
 * Creates the function that starts the action of a recurring task. Nothing takes effect before the
 * returned steps are committed. An action that cannot be started results in a failed run.
 */
export const createRunStarter = (deps: StartDeps) => {
  const actions: Record<RecurringTaskRow['action'], StartAction> = {
    notify: notify(deps),
    spawn_agent: spawnAgent(deps),
    run_hook: runHook(deps),
    create_task: createTask(deps),
    start_pipeline: startPipeline(deps),
  };

  return async (task: RecurringTaskRow): Promise<StartedRun> => {
    const at = iso(deps.clock.now());
    try {
      const started = await actions[task.action](task, JSON.parse(task.action_config));
      const finished_at = started.run.status === 'running' ? null : at;
      return { ...started, run: { started_at: at, finished_at, ...started.run } };
    } catch (error) {
      if (!(error instanceof StartFailed)) throw error;
      const run = { status: 'error' as const, error: error.message, finished_at: at };
      return { run, steps: [], committed: () => undefined };
    }
  };
};

export type StartRun = ReturnType<typeof createRunStarter>;

/** Used when the commit of an action was rejected. */
export const rejectedStart: StartRun = async () => ({
  run: { status: 'error', error: 'The action exceeds a limit of your account' },
  steps: [],
  committed: () => undefined,
});

/** Without `notifyOwner`, the preferences of the owner decide, as in a hook. */
const notify =
  ({ outbox }: StartDeps): StartAction =>
  ({ id, user_id: userId, title }, { notifyMessage = '', notifyOwner }) => {
    const notice = {
      kind: 'recurring_notice' as const,
      title,
      body: notifyMessage,
      link: pageLink('recurringTask', id),
      about: title,
      isDirect: notifyOwner === true,
    };
    const { posting, published } = outbox.noticeOf(userId, notice, notifyOwner !== false);
    return {
      run: { status: 'success', notification_id: posting.notice.id },
      steps: [procedureStep('postNotice', posting)],
      committed: published,
    };
  };

/** The agent is trusted because the owner wrote the prompt. */
const spawnAgent =
  (deps: StartDeps): StartAction =>
  ({ user_id: userId, title }, config) => {
    const { agentPrompt = '', agentTopic, agentModel, agentTools } = config;
    const { id, record } = spawnRecord(deps, {
      userId,
      prompt: agentPrompt,
      model: agentModel ?? deps.models.routed(agentTopic),
      name: title.slice(0, 80),
      ...(agentTopic !== undefined && { topic: agentTopic }),
      ...(agentTools && { tools: agentTools }),
      channel: 'api',
      untrusted: false,
      notifyOwner: config.notifyOwner === true,
      orchestrated: config.orchestrated === true,
      memory: config.memory === true,
      lane: userId,
    });
    record.add(addJob({ kind: AGENT_JOB, ref: id, lane: userId, runAt: record.at }));
    return {
      run: { status: 'running', agent_id: id },
      steps: record.recorded.statements,
      committed: () => deps.queue.added(userId),
    };
  };

const runHook =
  ({ hooks }: StartDeps): StartAction =>
  async ({ user_id: userId }, { hookId = '', payload = {} }) => {
    const hook = await hooks.find(userId, hookId);
    if (!hook)
      throw new StartFailed('The hook of this recurring task was deleted. Choose another hook');
    if (hook.enabled === 0)
      throw new StartFailed(`The hook ${hook.name} is disabled. Enable the hook`);
    const { executionId, statements, committed } = hooks.prepare(hook, {
      payload,
      event: 'recurring',
    });
    return { run: { status: 'running', execution_id: executionId }, steps: statements, committed };
  };

const createTask =
  ({ clock, made: { insertTask } }: StartDeps): StartAction =>
  async ({ id, user_id: userId, title }, { dueInMinutes, ...taskConfig }) => {
    const { title: taskTitle = title, notes, priority, tags } = taskConfig;
    const dueAt = dueInMinutes === undefined ? undefined : iso(clock.now() + dueInMinutes * 60_000);
    const task = { title: taskTitle, notes, priority, tags, dueAt, recurringTaskId: id };
    try {
      const inserted = await insertTask(userId, task);
      return {
        run: { status: 'success', task_id: inserted.id },
        steps: inserted.statements,
        committed: inserted.published,
      };
    } catch (error) {
      throw Boom.isBoom(error) ? new StartFailed(error.message) : error;
    }
  };

/** The run is trusted because the owner wrote the parameters. */
const startPipeline =
  ({ made: { pipelines } }: StartDeps): StartAction =>
  async ({ user_id: userId, title }, { templateId = '', params = {} }) => {
    const run = await pipelines.prepare({ userId, templateId, params, name: title });
    if ('fault' in run) throw new StartFailed(run.fault);
    return {
      run: { status: 'running', pipeline_id: run.id },
      steps: run.steps,
      committed: run.begun,
    };
  };
