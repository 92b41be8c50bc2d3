import type { Base } from '../base.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { getEgressRefusal } from '../kernel/egress.js';
import { orNotFound, type Resource, throwIfFaults } from '../kernel/route.js';
import type { DueSource } from '../schedule/module.js';
import { isNumericParam, toolNameFaults, toolParamFaults } from '../tools/module.js';
import { openRuns, type RunsModuleDeps } from './runs/open.js';
import { createStageQuestions, type StageQuestions } from './runs/questions.js';
import { createRecentRuns, type RecentRuns } from './runs/recentruns.js';
import { runsResource } from './runs/routes.js';
import { createPipelineStarts, type PipelineStarts, toolsOfTemplate } from './starts.js';
import type { PipelineTemplate } from './templates/contract.js';
import type { FindTemplate } from './templates/nestedtemplates.js';
import { templatesStore } from './templates/queries.js';
import { findTemplate, templatesResource } from './templates/routes.js';

export type { StageQuestion, StageQuestions } from './runs/questions.js';
export type { RecentRuns, RunBrief } from './runs/recentruns.js';
export type { PipelineStarts } from './starts.js';

export interface Pipelines {
  due: DueSource;
  /** Resumes runs of an earlier start. */
  start(): Promise<void>;
  /** Waits a limited time for active calls. No new calls start. */
  stop(waitMs: number): Promise<void>;
  stopAll(userId: string): Promise<void>;
  starts: PipelineStarts;
  questions: StageQuestions;
  recent: RecentRuns;
  resources(): Resource[];
}

export const openPipelines = (base: Base, deps: RunsModuleDeps): Pipelines => {
  const { store, clock } = base;
  const { tools, agents } = deps;
  const { grants } = deps.access.permissions;
  const templates = templatesStore(store);
  const find: FindTemplate = (userId, id) => findTemplate(templates, userId, id);
  const opened = openRuns(base, deps, find);
  const { runs, service, due, start, stop } = opened;
  const template = async (userId: string, id: string): Promise<PipelineTemplate> =>
    orNotFound(await find(userId, id), 'No template with that id');
  const refuseUse = async (
    by: Caller,
    of: Pick<PipelineTemplate, 'id' | 'stages'>,
  ): Promise<void> => {
    const { faults, tools: used } = await toolsOfTemplate(find, by.userId, of);
    throwIfFaults(faults);
    grants.refuseUse(by, used);
  };
  return {
    due,
    start,
    stop,
    stopAll: service.stopAll,
    starts: createPipelineStarts(opened, find, clock.now),
    questions: createStageQuestions(store, service),
    recent: createRecentRuns(store, service),
    resources: () => [
      templatesResource({
        templates,
        clock,
        known: (userId) => ({
          models: () => agents.models.names(userId),
          faultsOfTools: (names) => toolNameFaults(tools.toolbox.of(userId), names),
          faultsOfParams: (tool, params) => toolParamFaults(tools.toolbox.of(userId), tool, params),
          isNumericParam: (tool, key) => isNumericParam(tools.toolbox.of(userId), tool, key),
          refusalOf: (url) => getEgressRefusal(() => base.http.check(url)),
        }),
        hasExpert: async (userId, id) => !!(await deps.experts.experts.find(userId, id)),
        refuseGrants: (by, named) => grants.refuse(by, grants.acting(by.userId, named)),
      }),
      runsResource({ runs, service, template, refuseUse }),
    ],
  };
};
