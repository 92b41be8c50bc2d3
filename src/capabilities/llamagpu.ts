import type { Gpu } from '../providers/hardware/machine.js';
import { type EngineHost, engineGpus, enginePackages, findNpmEngine, LLAMA } from './packages.js';

export interface LlamaGpuUse {
  gpus: readonly Gpu[];
  note: string | null;
}

const GPU_SETTING = 'ADJUTANT_LLAMA_GPU=true';

/** If the engine does not run here, models run in Ollama. */
export const llamaGpuUse = (host: EngineHost, isAllowed: boolean): LlamaGpuUse => {
  const { gpus } = host;
  const engine = findNpmEngine(LLAMA);
  if (gpus.length === 0 || !engine || 'unsupported' in enginePackages(engine, host)) {
    return { gpus, note: null };
  }
  const usable = engineGpus(host);
  const names = gpus
    .map(({ name }) => name)
    .join(', ')
    .slice(0, 500);
  if (usable.length === 0) {
    const note = `llama does not support ${names} and runs models on the CPU. Ollama uses a GPU automatically`;
    return { gpus: [], note };
  }
  if (isAllowed) return { gpus: usable, note: null };
  const note = `llama uses ${names} only if ${GPU_SETTING} is set. Ollama uses a GPU automatically`;
  return { gpus: [], note };
};
