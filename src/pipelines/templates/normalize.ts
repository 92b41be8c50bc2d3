import type { NewTemplate, PipelineTemplate } from './contract.js';

export const DEFAULT_LIMITS = { maxSeconds: 3600, maxTokens: 2_000_000, maxCostUsd: 5 };

export type TemplateBody = Omit<
  PipelineTemplate,
  'id' | 'orgId' | 'preset' | 'version' | 'createdAt' | 'updatedAt'
>;

export const normalizeTemplate = (input: NewTemplate): TemplateBody => {
  const { name, description = null, parameters = [], stages, limits, onFinish } = input;
  return {
    name: name.trim(),
    description,
    parameters,
    stages: stages.map((stage) => ({ name: stage.key, needs: [], ...stage })),
    limits: { ...DEFAULT_LIMITS, ...limits },
    onFinish: { notifyOwner: onFinish?.notifyOwner ?? true },
  };
};
