import type { Clock } from '../kernel/clock.js';
import { NamedError } from '../kernel/failure.js';
import {
  type ModelHealths,
  type RegisteredModel,
  type Registry,
  TRANSCRIPTION,
} from '../models/module.js';
import { ModelFailure } from '../providers/llm/model.js';
import type { HeardText, SpeechInput } from '../providers/llm/transcription.js';
import type { Store } from '../store/store.js';
import { openBudget, settleReserved } from './budget.js';
import { CapReached } from './run.js';

/** The error of a model that did not transcribe; it says why. */
export class SpeechUnheard extends NamedError {}

/** Speech of a user that a model is to transcribe. */
export interface UserSpeech extends SpeechInput {
  userId: string;
  /** The id of what asks, under which the call is counted. */
  askedBy: string;
  seconds: number;
  signal: AbortSignal;
}

/** A model that transcribes on behalf of users. */
export interface SpeechModel {
  name: string;
  /** Throws SpeechUnheard, or the reason of the signal. The cost is null if it has no price. */
  hear(speech: UserSpeech): Promise<HeardText & { costUsd: number | null }>;
}

/** A model that cannot transcribe, with the reason. */
export interface DeafModel {
  name: string;
  because: string;
}

/** The models that transcribe on behalf of users. */
export interface SpeechModels {
  /** Lists those of the topic, in their order. */
  routed(): (SpeechModel | DeafModel)[];
  /** Returns the one with that name; null if no model has it. */
  named(name: string): SpeechModel | DeafModel | null;
}

interface SpeechModelsDeps {
  store: Store;
  clock: Clock;
  registry: Registry;
  health: ModelHealths;
  dailyCostUsd: number;
}

/** Creates the models that transcribe, whose cost counts on the days of users as that of agents does. */
export const createSpeechModels = (deps: SpeechModelsDeps): SpeechModels => {
  const { registry } = deps;
  const named = (name: string): SpeechModel | DeafModel | null => {
    const entry = registry.find(name);
    if (!entry) return null;
    if (!entry.isEnabled) return { name, because: 'it is disabled' };
    if (!entry.transcriber) return { name, because: 'it does not support transcription' };
    return { name, hear: (speech) => heard(deps, entry, speech) };
  };
  return {
    named,
    routed: () => {
      const route = registry.routes().find(({ topic }) => topic === TRANSCRIPTION);
      const names = route ? [route.primary, ...route.fallbacks] : [];
      return names.map((name) => named(name) ?? { name, because: 'the model does not exist' });
    },
  };
};

/** Ours: tokens that a second of speech is taken for until the provider has counted them. */
const SECONDS = 60;
const TOKENS = 1_000_000;

const heard = async (
  { store, clock, health, dailyCostUsd }: SpeechModelsDeps,
  { name, price, transcriber, whyKeyless }: RegisteredModel,
  { userId, askedBy, seconds, signal, ...speech }: UserSpeech,
): Promise<HeardText & { costUsd: number | null }> => {
  const refusal = whyKeyless() ?? health.begin(name);
  if (refusal !== null || !transcriber)
    throw new SpeechUnheard(refusal ?? 'it does not support transcription');
  const perSecond = price?.perMinuteUsd === undefined ? null : price.perMinuteUsd / SECONDS;
  const since = performance.now();
  const tookMs = (): number => Math.round(performance.now() - since);
  const budget = openBudget(
    { store, clock, access: { dailyCostUsd } },
    { agent: { id: askedBy, user_id: userId, hook_id: null }, isNoAgent: true, signal },
  );
  try {
    // The seconds stand for tokens of the same price, which is what a budget is kept in.
    const rate = perSecond === null ? null : { inputPerMTok: perSecond * TOKENS, outputPerMTok: 0 };
    const quote = { model: name, price: rate, inputTokens: Math.ceil(seconds), outputTokens: 0 };
    const reserved = await budget.reserve(quote);
    if (reserved === 'gone' || reserved === null) throw new SpeechUnheard(DAY_OVER);
    try {
      const found = await transcriber.hear(speech, signal);
      health.replied(name, tookMs());
      const costUsd = perSecond === null ? null : perSecond * seconds;
      const { inputTokens = 0, outputTokens = 0 } = found.usage;
      const usage = { inputTokens, outputTokens, costUsd };
      await store.transact(settleReserved({ clock }, reserved, { usage, latencyMs: tookMs() }));
      return { ...found, costUsd };
    } catch (error) {
      await budget.close(reserved, undefined, tookMs());
      throw error;
    }
  } catch (error) {
    if (error instanceof ModelFailure) health.failed(name, error);
    else health.released(name);
    signal.throwIfAborted();
    if (error instanceof ModelFailure) throw new SpeechUnheard(error.message);
    throw error instanceof CapReached ? new SpeechUnheard(error.message) : error;
  }
};

const DAY_OVER = 'a daily limit is reached';
