import type { LanguageModelV3 } from '@ai-sdk/provider';
import { adapters } from './adapters.js';
import type { ModelOptions } from './create.js';
import { boundedLines } from './lines.js';
import { type EndpointTraits, wireOf } from './wire.js';

/** The model's properties, as far as its replies have shown them. */
export interface ObservedEndpoint extends EndpointTraits {
  /** True if it reasons without showing that, so that it may have generated more than was seen. */
  hidesReasoning: boolean;
}

/** A model that is opened, and the function to call for a reply that begins. */
export interface OpenedModel {
  model: LanguageModelV3;
  /** Calls `begun` when a reply with a success status begins, for the call with that signal. */
  watch(signal: AbortSignal, begun: () => void): void;
}

/** Returns the function that opens the model at the first call, and gives the same one after. */
export const openOnce = (
  { name, provider, modelId, baseUrl, fetch }: ModelOptions,
  traits: EndpointTraits,
): (() => Promise<OpenedModel>) => {
  const watched = new WeakMap<AbortSignal, () => void>();
  const begun = (signal: AbortSignal): void => watched.get(signal)?.();
  const wire = boundedLines(name, wireOf({ name, fetch, traits, begun }));
  let opening: Promise<OpenedModel> | undefined;
  const open = async (): Promise<OpenedModel> => ({
    model: await adapters[provider].open({ name, modelId, baseUrl, fetch: wire }),
    watch: (signal, call) => void watched.set(signal, call),
  });
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
};
