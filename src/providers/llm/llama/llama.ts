import { join } from 'node:path';
import type { Confinement } from '../../confine/confinement.js';
import { unconfined } from '../../confine/unconfined.js';
import type { EmbeddingModel } from '../embeddings.js';
import type { Model, Price } from '../model.js';
import type { ModelTimeouts } from '../timeouts.js';
import { askForReply } from './chat.js';
import type { LlamaMemory } from './memory.js';
import { createResidents } from './residents.js';
import { askForVectors } from './vectors.js';

/** The settings of a model that runs here. */
export interface LlamaOpening {
  /** The name of the model in its failures. */
  name: string;
  /** The name of the installed model. */
  modelId: string;
  contextWindow: number;
  maxOutputTokens: number | null;
  takesTools: boolean;
  price: Price | null;
}

export interface LlamaOptions {
  /** The data folder. What is installed is in its folder `capabilities`. */
  home: string;
  /** null: no confinement works here, and the processes run without one. */
  confinement: Confinement | null;
  timeouts: ModelTimeouts;
  /** The longest time of a load, and the time after which an idle model is unloaded. */
  loadMs: number;
  idleMs: number;
  /** True to use the graphics card, which no confinement shows to a process. */
  useGpu: boolean;
  /** Returns how many threads run at full speed, which a model then has. */
  threads(): number;
  memory: LlamaMemory;
}

/** The models that run on this machine. */
export interface LlamaModels {
  /** Opens a model that answers. It is loaded at its first request. */
  model(opening: LlamaOpening): Model;
  /** Opens a model that makes vectors with so many numbers. */
  embedding(opening: LlamaOpening, dimensions: number): EmbeddingModel;
  /** Ends the processes of an installed model, such as one that is removed; null: of all of them. */
  unload(slug: string | null): Promise<void>;
  /** Ends all processes, and refuses further requests. */
  close(): Promise<void>;
}

/** Opens the models of node-llama-cpp, each of which runs in a process of its own. */
export const openLlama = (options: LlamaOptions): LlamaModels => {
  const { home, useGpu, threads, confinement, timeouts, loadMs, idleMs, memory } = options;
  const closing = new AbortController();
  const residents = createResidents({
    capabilities: join(home, 'capabilities'),
    memory,
    idleMs,
    load: {
      scratch: join(home, 'scratch'),
      confinement: useGpu || !confinement ? unconfined() : confinement,
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
      step: (asked) => askForReply({ residents, timeouts, opening }, asked),
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
