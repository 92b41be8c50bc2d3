import { canonical } from '../../kernel/jsonvalue.js';
import type { TemplateStage } from './contract.js';
import type { TemplateBody } from './normalize.js';
import { isStageWork, type StageWork } from './stagekinds.js';

/** Returns tools such as `http.request` that agents and stages use without approval. */
export const toolsGrantedBy = (stages: TemplateStage[]): string[] => [
  ...new Set(stages.flatMap(toolsOfStage)),
];

type Granting = Pick<TemplateBody, 'parameters' | 'stages' | 'limits'>;

/**
 * Returns the granted tools if a change affects what the stages do: the stages, parameters or
 * limits.
 */
export const findAddedTools = (before: Granting, after: Granting): string[] =>
  serializeGrantPurpose(before) === serializeGrantPurpose(after)
    ? []
    : toolsGrantedBy(after.stages);

const serializeGrantPurpose = ({ parameters, stages, limits }: Granting): string =>
  canonical([parameters, stages, limits]);

const toolsOfStage = ({ kind, config }: StageWork): string[] => {
  if (kind === 'foreach') return isStageWork(config.stage) ? toolsOfStage(config.stage) : [];
  if (kind === 'agent') return textsIn(config.tools);
  if (kind === 'research') return ['research.start'];
  if (kind === 'tool') return [`${config.toolId}.${config.toolAction}`];
  return kind === 'http' ? ['http.request'] : [];
};

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
