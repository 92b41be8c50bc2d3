import { join } from 'node:path';
import type { Clock } from '../../../kernel/clock.js';
import type { Confinement } from '../../confine/confinement.js';
import { unconfined } from '../../confine/unconfined.js';
import type { EmbeddingModel } from '../embeddings.js';
import type { Model } from '../model.js';
import type { ModelTimeouts } from '../timeouts.js';
import { askForReply } from './chat.js';
import { createLoadedModels, type LlamaOpening } from './loadedmodels.js';
import type { LlamaMemory } from './memory.js';
import { askForVectors } from './vectors.js';

export interface LlamaOptions {
  /** Models are in its folder `capabilities`. */
  home: string;
  /** Null if no confinement works. The processes then run unconfined. */
  confinement: Confinement | null;
  timeouts: ModelTimeouts;
  /** Time limit of loading, and idle time before unloading. */
  loadMs: number;
  idleMs: number;
  /** Requires an unconfined process. */
  useGpu: boolean;
  /** Threads that run at full speed. */
  threads(): number;
  memory: LlamaMemory;
  clock: Clock;
}

export interface LlamaModels {
  model(opening: LlamaOpening): Model;
  embedding(opening: LlamaOpening, dimensions: number): EmbeddingModel;
  /** Null for all models. */
  unload(slug: string | null): Promise<void>;
  /** Further requests are rejected. */
  close(): Promise<void>;
}

export const openLlama = (options: LlamaOptions): LlamaModels => {
  const { home, useGpu, threads, confinement, timeouts, loadMs, idleMs, memory, clock } = options;
  const closing = new AbortController();
  const residents = createLoadedModels({
    capabilities: join(home, 'capabilities'),
    memory,
    clock,
    idleMs,
    load: {
      scratch: join(home, 'scratch'),
      confinement: useGpu || !confinement ? unconfined() : confinement,
      clock,
      loadMs,
      useGpu,
      threads,
    },
    closing: closing.signal,
  });
  return {
    model: (opening) => ({
      name: opening.name,
      provider: 'llama',
      contextWindow: opening.contextWindow,
      takesTools: opening.takesTools,
      ...(opening.price && { price: opening.price }),
      step: (request) => askForReply({ residents, clock, timeouts, opening }, request),
    }),
    embedding: (opening, dimensions) => ({
      embed: (texts, signal) => askForVectors({ residents, opening, dimensions }, texts, signal),
    }),
    unload: residents.unload,
    close: () => {
      closing.abort();
      return residents.close();
    },
  };
};
