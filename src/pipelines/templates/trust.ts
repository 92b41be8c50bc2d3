import { canonical } from '../../kernel/jsonvalue.js';
import type { TemplateStage } from './contract.js';
import type { TemplateBody } from './normal.js';
import { isStageWork, type StageWork } from './stagekinds.js';

/**
 * Returns the tools that stages use without asking: those of agents, and the calls that stages make.
 * Each is named as `http.request`.
 */
export const toolsGrantedBy = (stages: TemplateStage[]): string[] => [
  ...new Set(stages.flatMap(toolsOfStage)),
];

/** The part of a template that decides what its stages do. */
type Granting = Pick<TemplateBody, 'parameters' | 'stages' | 'limits'>;

/**
 * Returns the tools that stages grant after a change, unless the change left what they do as it was:
 * the stages, the parameters with their defaults, and the limits.
 */
export const addedTools = (before: Granting, after: Granting): string[] =>
  purposeOf(before) === purposeOf(after) ? [] : toolsGrantedBy(after.stages);

const purposeOf = ({ parameters, stages, limits }: Granting): string =>
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
