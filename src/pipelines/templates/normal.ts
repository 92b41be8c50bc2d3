import type { NewTemplate, PipelineTemplate } from './contract.js';

/** Ours: what a run may use up unless its template says otherwise. */
export const DEFAULT_LIMITS = { maxSeconds: 3600, maxTokens: 2_000_000, maxCostUsd: 5 };

/** The part of a template that a person writes. */
export type TemplateBody = Omit<
  PipelineTemplate,
  'id' | 'preset' | 'version' | 'createdAt' | 'updatedAt'
>;

/** Fills in what a template leaves out. */
export const normalTemplate = (given: NewTemplate): TemplateBody => {
  const { name, description = null, parameters = [], stages, limits, onFinish } = given;
  return {
    name: name.trim(),
    description,
    parameters,
    stages: stages.map((stage) => ({ name: stage.key, needs: [], ...stage })),
    limits: { ...DEFAULT_LIMITS, ...limits },
    onFinish: { notifyOwner: onFinish?.notifyOwner ?? true },
  };
};
