import { type Model, ModelFailure, type ModelRequest } from '../providers/llm/model.js';
import type { ModelHealths } from './health.js';

/** What came of a tiny real prompt. */
export interface ProbeResult {
  ok: boolean;
  latencyMs: number;
  reply?: string;
  error?: string;
}

/** Ours: whoever looks on does not wait for longer. */
const PROBE_MS = 20_000;
const LONGEST_REPLY = 200;

/** Asks the model for one word; nothing is stored. `health` takes part where the model has a name. */
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
    // Room for models that think before they speak.
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
    // That somebody would not wait any longer says little of a model that is being loaded.
    if (!limit.aborted) health?.failed(model.name, error);
    return { ok: false, latencyMs: took(), error: error.message };
  }
};
