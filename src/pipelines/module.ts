import type { Base } from '../base.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { orNotFound, type Resource } from '../kernel/route.js';
import type { DueSource } from '../schedule/module.js';
import { faultsOfTools } from '../tools/module.js';
import { openRuns, type RunsModuleDeps } from './runs/open.js';
import { runsResource } from './runs/routes.js';
import type { PipelineTemplate } from './templates/contract.js';
import { templatesStore } from './templates/queries.js';
import { findTemplate, templatesResource } from './templates/routes.js';
import { toolsGrantedBy } from './templates/trust.js';

/** The pipelines of users: templates, and the runs of these. */
export interface Pipelines {
  /** The source of what is due in runs. */
  due: DueSource;
  /** Goes on with the runs that an earlier start has left. */
  start(): Promise<void>;
  /** Waits at most so long for the calls that are under way; begins nothing more. */
  stop(waitMs: number): Promise<void>;
  resources(): Resource[];
}

/** Opens the pipelines. */
export const openPipelines = (base: Base, deps: RunsModuleDeps): Pipelines => {
  const { store, clock } = base;
  const { tools, agents } = deps;
  const { grants } = deps.access.permissions;
  const templates = templatesStore(store);
  const { runs, service, due, start, stop } = openRuns(base, deps);
  const template = async (userId: string, id: string): Promise<PipelineTemplate> =>
    orNotFound(await findTemplate(templates, userId, id), 'No template with that id');
  const refuseUse = (by: Caller, { stages }: PipelineTemplate): void =>
    grants.refuseUse(by, toolsGrantedBy(stages));
  return {
    due,
    start,
    stop,
    resources: () => [
      templatesResource({
        templates,
        clock,
        known: {
          models: agents.models.names,
          faultsOfTools: (names) => faultsOfTools(tools.toolbox, names),
        },
        refuseGrants: (by, named) => grants.refuse(by, grants.acting(named)),
      }),
      runsResource({ runs, service, template, refuseUse }),
    ],
  };
};
