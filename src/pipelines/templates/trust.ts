import type { TemplateStage } from './contract.js';

/**
 * Returns the tools that stages grant: those of agents, and calls that act without asking on what
 * came from outside. Each is named as `http.request`.
 */
export const grantedTools = (stages: TemplateStage[]): string[] => [
  ...new Set(stages.flatMap(toolsOfStage)),
];

/** Returns the tools that stages grant after a change, unless the change left the stages as they were. */
export const addedTools = (before: TemplateStage[], after: TemplateStage[]): string[] =>
  JSON.stringify(before) === JSON.stringify(after) ? [] : grantedTools(after);

type Work = Pick<TemplateStage, 'kind' | 'config' | 'allowUntrusted'>;

const toolsOfStage = ({ kind, config, allowUntrusted = false }: Work): string[] => {
  if (kind === 'foreach') return isWork(config.stage) ? toolsOfStage(config.stage) : [];
  if (kind === 'agent') return textsIn(config.tools);
  if (!allowUntrusted) return [];
  if (kind === 'tool') return [`${config.toolId}.${config.toolAction}`];
  return kind === 'http' ? ['http.request'] : [];
};

const isWork = (value: unknown): value is Work =>
  typeof value === 'object' && value !== null && 'kind' in value && 'config' in value;

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
