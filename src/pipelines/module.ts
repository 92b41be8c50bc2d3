import type { Base } from '../base.js';
import type { Resource } from '../kernel/route.js';
import type { Permissions } from '../permissions/module.js';
import { faultsOfTools, type Toolbox } from '../tools/module.js';
import { templatesStore } from './templates/queries.js';
import { templatesResource } from './templates/routes.js';

/** The pipelines of users: the templates of their runs. */
export interface Pipelines {
  resources(): Resource[];
}

interface PipelinesDeps {
  toolbox: Toolbox;
  permissions: Permissions;
  models: { names(): string[] };
}

/** Opens the pipelines. */
export const openPipelines = (
  { store, clock }: Base,
  { toolbox, permissions: { grants }, models }: PipelinesDeps,
): Pipelines => ({
  resources: () => [
    templatesResource({
      templates: templatesStore(store),
      clock,
      known: {
        models: models.names,
        faultsOfTools: (names) => faultsOfTools(toolbox, names),
      },
      refuseGrants: (by, tools) => grants.refuse(by, grants.acting(tools)),
    }),
  ],
});
