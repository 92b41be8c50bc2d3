import { type Model, ModelFailure, type ModelRequest } from '../providers/llm/model.js';
import type { ModelHealths } from './health.js';

/** The result of a tiny real prompt. */
export interface ProbeResult {
  ok: boolean;
  latencyMs: number;
  reply?: string;
  error?: string;
}

/** Ours: a person who waits for the result does not wait longer. */
const PROBE_MS = 20_000;
const LONGEST_REPLY = 200;

/** Asks the model for one word; nothing is stored. Pass `health` for a registered model. */
export const probe = async (
  model: Model,
  signal: AbortSignal,
  health?: ModelHealths,
): Promise<ProbeResult> => {
  const since = performance.now();
  const took = (): number => Math.round(performance.now() - since);
  const limit = AbortSignal.timeout(PROBE_MS);
  const step: ModelRequest = {
    turns: [{ role: 'user', content: 'Answer with the one word: ok' }],
    tools: [],
    // Enough for models that reason before they reply.
    maxOutputTokens: 512,
    signal: AbortSignal.any([signal, limit]),
    onText: () => {},
  };
  try {
    const { text } = await model.step(step);
    health?.answered(model.name, took());
    return { ok: true, latencyMs: took(), reply: text.trim().slice(0, LONGEST_REPLY) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    // A timeout of this test says little about a model that is still loading.
    if (!limit.aborted) health?.failed(model.name, error);
    return { ok: false, latencyMs: took(), error: error.message };
  }
};
