import type { TemplateStage } from '../../src/pipelines/templates/contract.js';
import { startOpenai } from '../harness/openai.js';
import { openTarget } from '../harness/target.js';
import { openPipelineStage } from './stage.js';

/** Pipelines with two targets and a model. */
export const openBoundsStage = async () => {
  const target = await openTarget();
  const other = await openTarget();
  const model = await startOpenai();
  const egressAllow = [target.address, other.address];
  const config = { egressAllow, modelUrl: model.baseUrl, modelName: 'fake-1' };
  const stage = await openPipelineStage({ config });
  return {
    ...stage,
    target,
    other,
    model,
    get: (key: string, path: string, more: Partial<TemplateStage> = {}): TemplateStage => ({
      key,
      kind: 'http',
      config: { method: 'GET', url: `${target.url}${path}` },
      ...more,
    }),
    stop: async () => {
      await stage.stop();
      target.close();
      other.close();
      await model.stop();
    },
  };
};

export const ask: TemplateStage = { key: 'ask', kind: 'approval', config: { message: 'Go on?' } };
