import type { FieldFault } from '../../kernel/problem.js';
import type { PipelineTemplate, TemplateStage } from './contract.js';
import { isStageWork, type StageKind } from './stagekinds.js';

/** Maximum nesting, including the outermost pipeline. */
export const MAX_NESTING = 5;

export type FindTemplate = (userId: string, id: string) => Promise<PipelineTemplate | null>;

/** `id` is null for a new template. */
export interface Nesting {
  id: string | null;
  stages: TemplateStage[];
}

export interface NestedTemplates {
  templates: PipelineTemplate[];
  faults: FieldFault[];
}

/**
 * Finds templates that a template runs, directly or indirectly. A fault has the path of the stage
 * in the outermost template.
 */
export const nestedTemplates = async (
  { id, stages }: Nesting,
  userId: string,
  find: FindTemplate,
): Promise<NestedTemplates> => {
  const found = new Map<string, PipelineTemplate>();
  /** Depth at which a template was valid. At a lower depth it is valid as well. */
  const checked = new Map<string, number>();
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
    for (const nested of namedIn(template.stages, TEMPLATES)) {
      const fault = await faultBelow(nested.id, [...way, templateId]);
      if (fault !== null) return fault;
    }
    checked.set(templateId, way.length);
    return null;
  };
  const faults: FieldFault[] = [];
  for (const { path, id: templateId } of namedIn(stages, TEMPLATES)) {
    const message = await faultBelow(templateId, [id ?? NEW]);
    if (message !== null) faults.push({ path, message });
  }
  return { templates: [...found.values()], faults };
};

const NEW = 'this template';

/** Of agent stages. An expert may be deleted later, and the stage then fails. */
export const expertFaults = async (
  stages: TemplateStage[],
  has: (expertId: string) => Promise<boolean>,
): Promise<FieldFault[]> => {
  const faults: FieldFault[] = [];
  for (const { path, id } of namedIn(stages, EXPERTS)) {
    if (!(await has(id))) faults.push({ path, message: `refers to an unknown expert: ${id}` });
  }
  return faults;
};

interface Reference {
  kind: StageKind;
  key: string;
}
const TEMPLATES: Reference = { kind: 'pipeline', key: 'templateId' };
const EXPERTS: Reference = { kind: 'agent', key: 'expertId' };

const namedIn = (
  stages: TemplateStage[],
  { kind, key }: Reference,
): { path: string; id: string }[] =>
  stages.flatMap((stage, at) => {
    const { stage: repeated } = stage.config;
    const isRepeated = stage.kind === 'foreach' && isStageWork(repeated);
    const work = isRepeated ? repeated : stage;
    const id = work.config[key];
    if (work.kind !== kind || typeof id !== 'string') return [];
    return [{ path: `stages.${at}.config.${isRepeated ? 'stage.config.' : ''}${key}`, id }];
  });
