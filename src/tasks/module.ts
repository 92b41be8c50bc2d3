import type { Agents } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Experts } from '../experts/module.js';
import type { Jobs } from '../jobs/module.js';
import type { Resource } from '../kernel/route.js';
import { type Outbound, readTaskPreferences } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import { taskActions } from './actions.js';
import { type RecurringTaskInput, taskInsertion } from './create.js';
import type { TasksDeps } from './deps.js';
import { createTaskFeed } from './feed.js';
import { tasksStore } from './queries.js';
import { createTaskReminders } from './reminders.js';
import { tasksResource } from './routes.js';

export { readDueTasks } from './list.js';

interface TasksModuleDeps {
  hub: Hub;
  jobs: Pick<Jobs, 'queue'>;
  outbound: Pick<Outbound, 'outbox' | 'toWebhooks'>;
  agents: Pick<Agents, 'rows' | 'models'>;
  experts: Pick<Experts, 'find'>;
}

/** `null` if the daemon can only be reached from this machine. */
interface TasksAddress {
  address(): string | null;
  port(): number;
}

export const openTasks = (base: Base, moduleDeps: TasksModuleDeps) => {
  const { store, clock } = base;
  const { hub, jobs, outbound, agents, experts } = moduleDeps;
  const rows = tasksStore(store);
  const deps: TasksDeps = {
    store,
    clock,
    hub,
    outbound,
    tasks: rows,
    preferencesOf: (userId) => readTaskPreferences(store, userId),
  };
  const delegating = { store, clock, hub, tasks: rows, agents, experts, queue: jobs.queue };
  const feed = createTaskFeed({ store, clock, tasks: rows });
  return {
    actions: taskActions(deps),
    reminders: createTaskReminders({ store, clock, outbox: outbound.outbox }),
    insertion: (userId: string, task: RecurringTaskInput) => taskInsertion(deps, userId, task),
    resources: ({ address, port }: TasksAddress): Resource[] => [
      tasksResource({
        deps,
        delegating,
        feed,
        origin: () => address() ?? `http://127.0.0.1:${port()}`,
      }),
    ],
  };
};

export type TasksModule = ReturnType<typeof openTasks>;
