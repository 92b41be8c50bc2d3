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
  /** About what the step will come to with the first model that it fits; nought where that is free. */
  expect(name: string, step: Step): { tokens: number; costUsd: number };
}

/** Ours: an answer is taken to be this long until it is there. */
const EXPECTED_ANSWER = 1000;

/** `models` in the order of fallback; the last one answers always. */
export const createModels = (models: Model[]): Models => {
  const find = (name: string): Model | undefined => models.find((model) => model.name === name);

  const order = (name: string): Model[] => {
    const chosen = find(name);
    return chosen ? [chosen, ...models.filter((model) => model !== chosen)] : models;
  };

  const answer = async (name: string, step: Step): Promise<Answered> => {
    const passedOver: Answered['passedOver'] = [];
    if (!find(name)) passedOver.push({ model: name, because: 'there is no such model any more' });
    for (const model of order(name)) {
      const because = await attempt(model, step);
      if (typeof because !== 'string') return { reply: because, model: model.name, passedOver };
      passedOver.push({ model: model.name, because });
    }
    throw new ModelFailure('server', passedOver.map(({ because }) => because).join('; '));
  };

  const expect = (name: string, { turns, tools }: Step) => {
    const tokens = estimateTokens(turns, tools);
    const price = order(name).find((model) => tokens <= model.contextWindow)?.price;
    if (!price) return { tokens, costUsd: 0 };
    const { inputPerMTok, outputPerMTok } = price;
    const costUsd = (tokens * inputPerMTok + EXPECTED_ANSWER * outputPerMTok) / 1_000_000;
    return { tokens, costUsd };
  };

  return {
    default: models[0]?.name ?? '',
    has: (name) => find(name) !== undefined,
    names: () => models.map(({ name }) => name),
    answer,
    expect,
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
