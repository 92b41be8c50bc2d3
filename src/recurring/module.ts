import { type Agents, MODEL_GRANTS } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Hooks } from '../hooks/module.js';
import type { Jobs } from '../jobs/module.js';
import type { Resource } from '../kernel/route.js';
import type { Outbound } from '../outbound/module.js';
import type { Permissions } from '../permissions/module.js';
import type { Pipelines } from '../pipelines/module.js';
import type { Hub } from '../realtime/module.js';
import type { DueSource } from '../schedule/module.js';
import type { TasksModule } from '../tasks/module.js';
import { type Tools, toolNameFaults } from '../tools/module.js';
import { createRunStarter } from './actions.js';
import { createRecurringSource } from './fire.js';
import { createRunSource } from './follow.js';
import { recurringStore } from './queries.js';
import { recurringResource } from './routes.js';

export interface Recurring {
  sources: DueSource[];
  resources(deps: { tools: Tools; permissions: Permissions }): Resource[];
}

interface RecurringModuleDeps {
  hub: Hub;
  jobs: Jobs;
  outbound: Outbound;
  agents: Agents;
  started: { hooks: Hooks; tasks: TasksModule; pipelines: Pipelines };
}

export const openRecurring = (base: Base, deps: RecurringModuleDeps): Recurring => {
  const { store, clock } = base;
  const { hub, jobs, agents } = deps;
  const { outbox } = deps.outbound;
  const { models } = agents;
  const { tasks, pipelines } = deps.started;
  const hooks = deps.started.hooks.ownRuns;
  const { queue } = jobs;
  const rows = recurringStore(store);
  const made = { insertTask: tasks.insertion, pipelines: pipelines.starts };
  const start = createRunStarter({ store, clock, hub, queue, outbox, models, hooks, made });
  const firing = { store, clock, hub, outbox, rows, start };
  return {
    sources: [createRecurringSource(firing), createRunSource(firing)],
    resources: ({ tools, permissions: { grants } }) => {
      const ofTools = (userId: string, names: string[]) =>
        toolNameFaults(tools.toolbox.of(userId), names, MODEL_GRANTS);
      const named = {
        models: models.names,
        faultsOfTools: ofTools,
        // A schedule has no untrusted input.
        literalsOf: () => [],
      };
      return [
        recurringResource({
          ...firing,
          fires: { hooks, pipelines: pipelines.starts },
          named,
          grants,
        }),
      ];
    },
  };
};
