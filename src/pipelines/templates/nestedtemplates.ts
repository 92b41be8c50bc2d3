import type { FieldFault } from '../../kernel/problem.js';
import type { PipelineTemplate, TemplateStage } from './contract.js';
import { isStageWork } from './stagekinds.js';

/** Ours: the number of pipelines that may contain each other, the outermost included. */
export const MAX_NESTING = 5;

/** Finds a template of a user, or one that ships; null if there is none. */
export type FindTemplate = (userId: string, id: string) => Promise<PipelineTemplate | null>;

/** The part of a template of which nested templates are found. `id`: null if it has none yet. */
export interface Nesting {
  id: string | null;
  stages: TemplateStage[];
}

/** The templates that a template runs as stages, and what is wrong with them. */
export interface NestedTemplates {
  templates: PipelineTemplate[];
  faults: FieldFault[];
}

/**
 * Finds the templates that a template runs as stages, directly or through others. A fault has the path of
 * the stage in the template from which the others are reached.
 */
export const nestedTemplates = async (
  { id, stages }: Nesting,
  userId: string,
  find: FindTemplate,
): Promise<NestedTemplates> => {
  const found = new Map<string, PipelineTemplate>();
  /** Keeps the depth at which a template was in order: nested less deep, it is in order as well. */
  const checked = new Map<string, number>();
  /** Returns what is wrong below a template at the end of a way; null if nothing is. */
  const faultBelow = async (templateId: string, way: string[]): Promise<string | null> => {
    if (way.includes(templateId)) {
      return `starts itself: ${[...way.slice(way.indexOf(templateId)), templateId].join(' → ')}`;
    }
    if (way.length >= MAX_NESTING) {
      return `is nested more than ${MAX_NESTING} levels deep: ${[...way, templateId].join(' → ')}`;
    }
    if ((checked.get(templateId) ?? 0) >= way.length) return null;
    const template = found.get(templateId) ?? (await find(userId, templateId));
    if (!template) return `refers to an unknown template: ${templateId}`;
    found.set(templateId, template);
    for (const nested of namedIn(template.stages)) {
      const fault = await faultBelow(nested.templateId, [...way, templateId]);
      if (fault !== null) return fault;
    }
    checked.set(templateId, way.length);
    return null;
  };
  const faults: FieldFault[] = [];
  for (const { path, templateId } of namedIn(stages)) {
    const message = await faultBelow(templateId, [id ?? NEW]);
    if (message !== null) faults.push({ path, message });
  }
  return { templates: [...found.values()], faults };
};

/** Stands for a template that has no id yet, in the ways to others. */
const NEW = 'this template';

/** Returns the templates that stages name, each with the path of its name. */
const namedIn = (stages: TemplateStage[]): { path: string; templateId: string }[] =>
  stages.flatMap(({ kind, config }, at) => {
    const path = `stages.${at}.config`;
    if (kind === 'pipeline')
      return [{ path: `${path}.templateId`, templateId: `${config.templateId}` }];
    const { stage } = config;
    if (kind !== 'foreach' || !isStageWork(stage) || stage.kind !== 'pipeline') return [];
    return [{ path: `${path}.stage.config.templateId`, templateId: `${stage.config.templateId}` }];
  });
