import type { TemplateStage } from './contract.js';
import { isStageWork, type StageWork } from './stagekinds.js';

/**
 * Returns the tools that stages grant: those of agents, and calls that act without asking on what
 * came from outside. Each is named as `http.request`.
 */
export const toolsGrantedBy = (stages: TemplateStage[]): string[] => [
  ...new Set(stages.flatMap(toolsOfStage)),
];

/** Returns the tools that stages grant after a change, unless the change left the stages as they were. */
export const addedTools = (before: TemplateStage[], after: TemplateStage[]): string[] =>
  JSON.stringify(before) === JSON.stringify(after) ? [] : toolsGrantedBy(after);

const toolsOfStage = ({ kind, config, allowUntrusted = false }: StageWork): string[] => {
  if (kind === 'foreach') return isStageWork(config.stage) ? toolsOfStage(config.stage) : [];
  if (kind === 'agent') return textsIn(config.tools);
  if (!allowUntrusted) return [];
  if (kind === 'research') return ['research.start'];
  if (kind === 'tool') return [`${config.toolId}.${config.toolAction}`];
  return kind === 'http' ? ['http.request'] : [];
};

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
