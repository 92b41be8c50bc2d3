import { type Model, ModelFailure, type Step, type StepReply } from '../../providers/llm/model.js';
import { estimateTokens } from '../../providers/llm/tokens.js';

/** Which model answered, and why those before it did not. */
export interface Answered {
  reply: StepReply;
  model: string;
  passedOver: { model: string; because: string }[];
}

export interface Models {
  /** The model that answers where none is named. */
  default: string;
  has(name: string): boolean;
  names(): string[];
  /**
   * Asks the named model; where it cannot answer, the default, at last the built-in digest, which
   * always can. A prompt too large for a model is never cut: the next one that fits gets it.
   */
  answer(name: string, step: Step): Promise<Answered>;
}

/** `models` in the order of fallback; the last one answers always. */
export const createModels = (models: Model[]): Models => {
  const find = (name: string): Model | undefined => models.find((model) => model.name === name);

  const answer = async (name: string, step: Step): Promise<Answered> => {
    const chosen = find(name);
    const order = chosen ? [chosen, ...models.filter((model) => model !== chosen)] : models;
    const passedOver: Answered['passedOver'] = [];
    for (const model of order) {
      const because = await attempt(model, step);
      if (typeof because !== 'string') return { reply: because, model: model.name, passedOver };
      passedOver.push({ model: model.name, because });
    }
    throw new ModelFailure('server', passedOver.map(({ because }) => because).join('; '));
  };

  return {
    default: models[0]?.name ?? '',
    has: (name) => find(name) !== undefined,
    names: () => models.map(({ name }) => name),
    answer,
  };
};

/** The reply, or the sentence that says why there is none. */
const attempt = async (model: Model, step: Step): Promise<StepReply | string> => {
  if (estimateTokens(step.turns, step.tools) > model.contextWindow) {
    return 'the prompt is larger than its context';
  }
  try {
    return await model.step(step);
  } catch (error) {
    if (!(error instanceof ModelFailure) || step.signal.aborted) throw error;
    return error.message;
  }
};
