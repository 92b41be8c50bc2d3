import { setTimeout as wait } from 'node:timers/promises';
import type { Telling } from './fetch.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import type { InstallPlan } from './plan.js';

/** Ours: a pull that breaks off is begun again so often in a row without a byte between. */
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Has Ollama pull a model; after a broken connection it goes on. Throws OllamaFailed. */
export const pullModel = async (
  library: OllamaLibrary,
  { model }: Extract<InstallPlan, { via: 'ollama' }>,
  telling: Telling,
): Promise<void> => {
  let most = 0;
  for (let failures = 0; ; ) {
    const before = most;
    try {
      await library.pull(model, {
        signal: telling.signal,
        told: ({ done, total, note }) => {
          most = Math.max(most, done);
          telling.bytes(done, total, note);
        },
      });
      if (await library.has(model, telling.signal)) return;
      throw new OllamaFailed(
        `Ollama says that it has pulled ${model}, and does not list it`,
        false,
      );
    } catch (error) {
      telling.signal.throwIfAborted();
      if (!(error instanceof OllamaFailed && error.isBroken)) throw error;
      failures = most > before ? 1 : failures + 1;
      if (failures >= ATTEMPTS) throw error;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
      await wait(pause, undefined, { signal: telling.signal });
    }
  }
};
