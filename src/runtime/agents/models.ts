import {
  type Model,
  ModelFailure,
  type Price,
  type Step,
  type StepReply,
} from '../../providers/llm/model.js';
import { estimateTokens } from '../../providers/llm/tokens.js';
import type { Health, ModelHealth } from '../models/health.js';
import type { Entry, Registry } from '../models/registry.js';
import { type Candidacy, candidatesOf } from './candidates.js';

/** Which model answered, and why those before it did not. */
export interface Answered {
  reply: StepReply;
  model: string;
  latencyMs: number;
  passedOver: { model: string; because: string }[];
}

/** What decides who is asked: which models may answer an agent, and which it may not have. */
export interface Wanted extends Candidacy {
  /** Why it may not have this model; null where it may. */
  barred(entry: Entry): string | null;
}

/** Sets aside what a dearer model may cost; false where a cap forbids it. */
export type Afford = (costUsd: number) => Promise<boolean>;

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
  first(of: Candidacy): Entry | undefined;
  /**
   * The models that an agent may hand its work on to: those from which the work can come to no model
   * that it cannot come to already.
   */
  within(of: Candidacy): string[];
  /**
   * Asks those that may answer, one after the other (candidatesOf). A prompt too large for a model is
   * never cut: the next one that fits gets it.
   */
  answer(wanted: Wanted, step: Step, afford: Afford): Promise<Answered>;
  /** Tokens that a prompt may take, with room for an answer, if the likely model is to take it. */
  room(wanted: Wanted): number;
  /** About what the step will come to with the model that is likely to answer; nought where that is free. */
  expect(wanted: Wanted, step: Step): Expected;
}

interface Expected {
  tokens: number;
  costUsd: number;
}

/** Ours: of a context, what is left free for the answer, but no more than an eighth. */
const LONGEST_ANSWER = 8192;
/** Ours: an answer is taken to be this long until it is there. */
const EXPECTED_ANSWER = 1000;

export const createModels = (registry: Registry, health: Health): Models => {
  const has = (name: string): boolean => registry.find(name)?.isEnabled === true;

  const enabled = (): Entry[] => registry.list().filter(({ isEnabled }) => isEnabled);

  const answer: Models['answer'] = async (wanted, step, afford) => {
    const passedOver: Answered['passedOver'] = [];
    for (const name of candidatesOf(registry, wanted)) {
      const asked = await attempt({ registry, health, afford, wanted }, name, step);
      if (typeof asked !== 'string') return { ...asked, model: name, passedOver };
      passedOver.push({ model: name, because: asked });
    }
    throw new ModelFailure('server', passedOver.map(({ because }) => because).join('; '));
  };

  const expect: Models['expect'] = (wanted, step) => {
    const tokens = estimateTokens(step.turns, step.tools);
    const likely = candidatesOf(registry, wanted).find(
      (name) => unfit(registry.find(name), step, wanted) === null && health.refusal(name) === null,
    );
    return { tokens, costUsd: costOf(tokens, registry.find(likely ?? '')?.price) };
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
    expect,
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
const unfit = (entry: Entry | undefined, { turns, tools }: Step, wanted: Wanted): string | null => {
  const barred = whyBarred(entry, wanted);
  if (!entry || barred !== null || entry.source === 'builtin') return barred;
  if (!entry.supports.tools && turns.some(isAboutTools)) return 'it knows no tools';
  const offered = entry.supports.tools ? tools : [];
  const isLarger = estimateTokens(turns, offered) > entry.contextWindow;
  return isLarger ? 'the prompt is larger than its context' : null;
};

const whyBarred = (entry: Entry | undefined, wanted: Wanted): string | null => {
  if (!entry) return 'there is no such model any more';
  if (!entry.isEnabled) return 'it is disabled';
  return entry.whyKeyless() ?? wanted.barred(entry);
};

const isAboutTools = (turn: Step['turns'][number]): boolean =>
  turn.role === 'tool' || (turn.role === 'assistant' && turn.toolCalls.length > 0);

interface Asking {
  registry: Registry;
  health: Health;
  afford: Afford;
  wanted: Wanted;
}

/** The reply, or the sentence that says why there is none. */
const attempt = async (
  { registry, health, afford, wanted }: Asking,
  name: string,
  step: Step,
): Promise<Pick<Answered, 'reply' | 'latencyMs'> | string> => {
  const entry = registry.find(name);
  const because = unfit(entry, step, wanted) ?? health.refusal(name);
  if (!entry || because !== null) return because ?? '';
  const cost = costOf(estimateTokens(step.turns, step.tools), entry.price);
  if (!(await afford(cost))) return 'it would pass a limit of cost';
  return health.begin(name) ?? (await ask(entry.model, step, health));
};

const ask = async (
  model: Model,
  step: Step,
  health: Health,
): Promise<Pick<Answered, 'reply' | 'latencyMs'> | string> => {
  const since = performance.now();
  const tools = model.takesTools === false ? [] : step.tools;
  try {
    // Whoever listens or not: only a stream shows that a model has fallen silent.
    const reply = await model.step({ ...step, tools, onText: step.onText ?? (() => {}) });
    const latencyMs = Math.round(performance.now() - since);
    health.answered(model.name, latencyMs);
    return { reply, latencyMs };
  } catch (error) {
    if (!(error instanceof ModelFailure) || step.signal.aborted) {
      health.released(model.name);
      throw error;
    }
    health.failed(model.name, error);
    return error.message;
  }
};

const costOf = (tokens: number, price: Price | null | undefined): number =>
  price ? (tokens * price.inputPerMTok + EXPECTED_ANSWER * price.outputPerMTok) / 1_000_000 : 0;
