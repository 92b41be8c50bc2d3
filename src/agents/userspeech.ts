import type { Clock } from '../kernel/clock.js';
import { NamedError } from '../kernel/failure.js';
import {
  type ModelHealths,
  type RegisteredModel,
  type Registry,
  TRANSCRIPTION,
} from '../models/module.js';
import { ModelFailure } from '../providers/llm/model.js';
import type { SpeechInput, TranscribedText } from '../providers/llm/transcription.js';
import type { Store } from '../store/store.js';
import { LimitReached, openBudget, settleReserved } from './budget.js';

/** The message is the reason. */
export class TranscriptionFailed extends NamedError {}

export interface UserSpeech extends SpeechInput {
  userId: string;
  askedBy: string;
  seconds: number;
  signal: AbortSignal;
}

export interface SpeechModel {
  name: string;
  /** Throws TranscriptionFailed or the abort reason. The cost is null without a price. */
  hear(speech: UserSpeech): Promise<TranscribedText & { costUsd: number | null }>;
}

export interface UnavailableSpeechModel {
  name: string;
  because: string;
}

export interface SpeechModels {
  routed(): (SpeechModel | UnavailableSpeechModel)[];
  named(name: string): SpeechModel | UnavailableSpeechModel | null;
  /** Models that support transcription. */
  names(): string[];
}

interface SpeechModelsDeps {
  store: Store;
  clock: Clock;
  registry: Registry;
  health: ModelHealths;
  dailyCostUsd: number;
}

/** The cost counts towards the daily limits of the user. */
export const createSpeechModels = (deps: SpeechModelsDeps): SpeechModels => {
  const { registry } = deps;
  const named = (name: string): SpeechModel | UnavailableSpeechModel | null => {
    const entry = registry.find(name);
    if (!entry) return null;
    if (!entry.isEnabled) return { name, because: 'it is disabled' };
    if (!entry.transcriber) return { name, because: 'it does not support transcription' };
    return { name, hear: (speech) => transcribe(deps, entry, speech) };
  };
  return {
    named,
    names: () =>
      registry
        .list()
        .filter(({ isEnabled, transcriber }) => isEnabled && transcriber)
        .map(({ name }) => name),
    routed: () => {
      const route = registry.routes().find(({ topic }) => topic === TRANSCRIPTION);
      const names = route ? [route.primary, ...route.fallbacks] : [];
      return names.map((name) => named(name) ?? { name, because: 'the model does not exist' });
    },
  };
};

/** Speech is priced per minute. In a budget, one token stands for one second of speech. */
const SECONDS = 60;
const TOKENS = 1_000_000;

const transcribe = async (
  { store, clock, health, dailyCostUsd }: SpeechModelsDeps,
  { name, price, transcriber, whyKeyless }: RegisteredModel,
  { userId, askedBy, seconds, signal, ...speech }: UserSpeech,
): Promise<TranscribedText & { costUsd: number | null }> => {
  const refusal = whyKeyless() ?? health.begin(name);
  if (refusal !== null || !transcriber)
    throw new TranscriptionFailed(refusal ?? 'it does not support transcription');
  const perSecond = price?.perMinuteUsd === undefined ? null : price.perMinuteUsd / SECONDS;
  const since = performance.now();
  const tookMs = (): number => Math.round(performance.now() - since);
  const budget = openBudget(
    { store, clock, access: { dailyCostUsd } },
    { agent: { id: askedBy, user_id: userId, hook_id: null }, isNoAgent: true, signal },
  );
  try {
    // One token costs as much as one second.
    const rate = perSecond === null ? null : { inputPerMTok: perSecond * TOKENS, outputPerMTok: 0 };
    const quote = { model: name, price: rate, inputTokens: Math.ceil(seconds), outputTokens: 0 };
    const reserved = await budget.reserve(quote);
    if (reserved === 'gone' || reserved === null)
      throw new TranscriptionFailed(DAILY_LIMIT_REACHED);
    try {
      const found = await transcriber.transcribe(speech, signal);
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
    if (error instanceof ModelFailure) throw new TranscriptionFailed(error.message);
    throw error instanceof LimitReached ? new TranscriptionFailed(error.message) : error;
  }
};

const DAILY_LIMIT_REACHED = 'a daily limit is reached';
