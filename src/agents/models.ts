import type { ModelHealth, ModelHealths } from '../models/health.js';
import type { RegisteredModel, Registry } from '../models/registry.js';
import {
  type Model,
  ModelFailure,
  type ModelRequest,
  type ModelUsage,
  type StepReply,
} from '../providers/llm/model.js';
import { usageWith } from '../providers/llm/tally.js';
import { estimateTokens } from '../providers/llm/tokens.js';
import type { Quote, ReservedBudget, StepBudget } from './budget.js';
import { type Candidacy, candidatesOf } from './candidates.js';

/** Which model answered, and why those before it did not. */
export interface ModelReply {
  reply: StepReply;
  model: string;
  latencyMs: number;
  /** To be settled with what the answer came to. */
  reserved: ReservedBudget;
  passedOver: { model: string; because: string }[];
}

/** What decides who is asked: which models may answer an agent, and which it may not have. */
export interface ModelConstraints extends Candidacy {
  /** Why it may not have this model; null where it may. */
  barred(entry: RegisteredModel): string | null;
}

/** One that may be asked, and how it is. */
export interface ModelState extends Pick<ModelHealth, 'status' | 'lastError'> {
  name: string;
}

export interface Models {
  /** Whether an agent may be given this model. */
  has(name: string): boolean;
  names(): string[];
  /** Those that may be asked, with how they are. */
  states(): ModelState[];
  /** The model of an agent that names none: its topic's first, else the default. */
  choose(topic?: string | null): string;
  /**
   * The same of an agent that reads payloads, though the topic's first be disabled: it is passed over
   * when it is asked, and what follows it is what follows a local model.
   */
  routed(topic?: string): string;
  /** Who is asked before all others, were it well. */
  first(of: Candidacy): RegisteredModel | undefined;
  /**
   * The models that an agent may hand its work on to: those from which the work can come to no model
   * that it cannot come to already.
   */
  within(of: Candidacy): string[];
  /**
   * Asks those that may answer, one after the other (candidatesOf). A prompt too large for a model is
   * never cut: the next one that fits gets it. Each call is reserved for itself, and what a failed one
   * came to is counted.
   */
  answer(wanted: ModelConstraints, step: ModelRequest, budget: StepBudget): Promise<ModelReply>;
  /** Tokens that a prompt may take, with room for an answer, if the likely model is to take it. */
  room(wanted: ModelConstraints): number;
}

/** Ours: of a context, what is left free for the answer, but no more than an eighth. */
const LONGEST_ANSWER = 8192;
/** The estimate of a question may be too low by so much. */
const INPUT_MARGIN = 1.25;
/** Ours: an answer is asked to be this long even where the question fills the context by the estimate. */
const SHORTEST_ANSWER = 256;

export const createModels = (registry: Registry, health: ModelHealths): Models => {
  const has = (name: string): boolean => registry.find(name)?.isEnabled === true;

  const enabled = (): RegisteredModel[] => registry.list().filter(({ isEnabled }) => isEnabled);

  const answer: Models['answer'] = async (wanted, step, budget) => {
    const passedOver: ModelReply['passedOver'] = [];
    for (const name of candidatesOf(registry, wanted)) {
      const asked = await attempt({ registry, health, budget, wanted }, name, step);
      if (typeof asked !== 'string') return { ...asked, model: name, passedOver };
      passedOver.push({ model: name, because: asked });
    }
    throw new ModelFailure('server', passedOver.map(({ because }) => because).join('; '));
  };

  return {
    has,
    names: () => enabled().map(({ name }) => name),
    states: () =>
      enabled().map(({ name }) => {
        const { status, lastError } = health.of(name);
        return { name, status, lastError };
      }),
    choose: (topic) => {
      const routed = registry.routes().find((route) => route.topic === topic);
      return routed && has(routed.primary) ? routed.primary : registry.default();
    },
    routed: (topic) =>
      registry.routes().find((route) => route.topic === topic)?.primary ?? registry.default(),
    first: (of) => registry.find(candidatesOf(registry, of).find(has) ?? ''),
    within: (of) => {
      const own = candidatesOf(registry, of);
      const reaches = (model: string) => candidatesOf(registry, { ...of, model });
      return own.filter((name) => has(name) && reaches(name).every((each) => own.includes(each)));
    },
    answer,
    room: (wanted) => {
      const mayHave = (name: string) => whyBarred(registry.find(name), wanted) === null;
      const likely = candidatesOf(registry, wanted).find(
        (name) => mayHave(name) && !health.refusal(name),
      );
      const window = registry.find(likely ?? '')?.contextWindow ?? 0;
      return window - Math.min(LONGEST_ANSWER, Math.floor(window / 8));
    },
  };
};

/** Why the model cannot take the step, however well it is; null where it can. */
const unfit = (
  entry: RegisteredModel | undefined,
  { turns, tools }: ModelRequest,
  wanted: ModelConstraints,
): string | null => {
  const barred = whyBarred(entry, wanted);
  if (!entry || barred !== null || entry.source === 'builtin') return barred;
  if (!entry.supports.tools && turns.some(isAboutTools)) return 'it knows no tools';
  const offered = entry.supports.tools ? tools : [];
  const isLarger = estimateTokens(turns, offered) > entry.contextWindow;
  return isLarger ? 'the prompt is larger than its context' : null;
};

const whyBarred = (entry: RegisteredModel | undefined, wanted: ModelConstraints): string | null => {
  if (!entry) return 'there is no such model any more';
  if (!entry.isEnabled) return 'it is disabled';
  return entry.whyKeyless() ?? wanted.barred(entry);
};

const isAboutTools = (turn: ModelRequest['turns'][number]): boolean =>
  turn.role === 'tool' || (turn.role === 'assistant' && turn.toolCalls.length > 0);

interface CandidateSearch {
  registry: Registry;
  health: ModelHealths;
  budget: StepBudget;
  wanted: ModelConstraints;
}

type Got = Omit<ModelReply, 'model' | 'passedOver'>;

/** The reply, or the sentence that says why there is none. */
const attempt = async (
  { registry, health, budget, wanted }: CandidateSearch,
  name: string,
  step: ModelRequest,
): Promise<Got | string> => {
  const entry = registry.find(name);
  const because = unfit(entry, step, wanted) ?? health.refusal(name);
  if (!entry || because !== null) return because ?? '';
  const offered = { ...step, tools: entry.supports.tools ? step.tools : [] };
  const reserved = await budget.reserve(quoteOf(entry, offered));
  if (!reserved) return 'it would pass a limit of cost';
  const busy = health.begin(name);
  if (busy === null) return ask({ model: entry.model, health, budget, reserved }, offered);
  await budget.close(reserved, undefined, 0);
  return busy;
};

/** The digest takes nothing; all others the least of what the agent, the model and its context allow. */
const quoteOf = (
  entry: RegisteredModel,
  { turns, tools, maxOutputTokens = LONGEST_ANSWER }: ModelRequest,
): Quote => {
  const { name: model, price, contextWindow } = entry;
  if (entry.source === 'builtin') return { model, inputTokens: 0, outputTokens: 0 };
  const tokens = estimateTokens(turns, tools);
  const most = Math.min(maxOutputTokens, entry.maxOutputTokens ?? maxOutputTokens);
  return {
    ...{ model, price },
    inputTokens: Math.ceil(tokens * INPUT_MARGIN),
    outputTokens: Math.min(most, Math.max(SHORTEST_ANSWER, contextWindow - tokens)),
  };
};

interface ReservedCall {
  model: Model;
  health: ModelHealths;
  budget: StepBudget;
  reserved: ReservedBudget;
}

const ask = async (
  { model, health, budget, reserved }: ReservedCall,
  step: ModelRequest,
): Promise<Got | string> => {
  const since = performance.now();
  const tookMs = (): number => Math.round(performance.now() - since);
  const maxOutputTokens = reserved.outputTokens;
  try {
    // Whoever listens or not: only a stream shows that a model has fallen silent.
    const onText = step.onText ?? (() => {});
    const reply = await model.step({ ...step, maxOutputTokens, onText });
    health.answered(model.name, tookMs());
    return { reply, reserved, latencyMs: tookMs() };
  } catch (error) {
    const failure = error instanceof ModelFailure ? error : null;
    if (failure && !step.signal.aborted) health.failed(model.name, failure);
    else health.released(model.name);
    await budget.close(reserved, failure ? failure.usage : wholeOf(reserved), tookMs());
    if (!failure || step.signal.aborted) throw error;
    return failure.message;
  }
};

/** All that was set aside: how far the call came is not known. */
const wholeOf = ({ inputTokens, outputTokens, price }: ReservedBudget): ModelUsage =>
  usageWith(price ?? undefined, inputTokens, outputTokens);
