import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../src/kernel/clock.js';
import { findConfinement } from '../../../../src/providers/confine/find.js';
import {
  type LlamaModels,
  type LlamaOptions,
  openLlama,
} from '../../../../src/providers/llm/llama/llama.js';
import type { ModelRequest, StepReply, Turn } from '../../../../src/providers/llm/model.js';
import { installEngine, installScripted } from '../../../harness/llamahome.js';

/** Models of llama in a home of their own, with the confinement of this machine. */
export interface LlamaStage {
  home: string;
  llama: LlamaModels;
  /** Opens the models again, with other options. */
  open(over: Partial<LlamaOptions>): void;
  /** Asks a model for a reply. */
  step(slug: string, asked?: Partial<ModelRequest>, contextWindow?: number): Promise<StepReply>;
  /** The kind and message of the failure of a step; null if it had none. */
  failure(slug: string, asked?: Partial<ModelRequest>): Promise<string | null>;
  close(): Promise<void>;
}

const UNKNOWN = { freeBytes: async () => null, neededBytes: async () => null };
/** No model hangs, however busy the machine is. */
const TIMEOUTS = { firstTokenMs: 600_000, silenceMs: 600_000, totalMs: 600_000 };
const confinement = await findConfinement({ allowUnconfined: false });

export const llamaStage = async ({ hasEngine = true } = {}): Promise<LlamaStage> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-llama-'));
  if (hasEngine) installEngine(home);
  const options: LlamaOptions = {
    ...{ home, confinement, clock: systemClock, timeouts: TIMEOUTS },
    ...{ memory: UNKNOWN, loadMs: 30_000, idleMs: 60_000, useGpu: false, threads: () => 2 },
  };
  const stage: LlamaStage = {
    home,
    llama: openLlama(options),
    open: (over) => {
      stage.llama = openLlama({ ...options, ...over });
    },
    step: (slug, asked, contextWindow) =>
      modelOf(stage, slug, contextWindow).step({ ...QUESTION(), ...asked }),
    failure: (slug, asked) =>
      stage.step(slug, asked).then(
        () => null,
        ({ kind, message }) => `${kind}: ${message}`,
      ),
    close: async () => {
      await stage.llama.close();
      await rm(home, { recursive: true, force: true });
    },
  };
  return stage;
};

const modelOf = ({ llama }: LlamaStage, slug: string, contextWindow = 2048) =>
  llama.model({
    ...{ name: slug, modelId: slug, contextWindow, maxOutputTokens: null },
    ...{ takesTools: true, price: null },
  });

const QUESTION = () => ({
  turns: [{ role: 'user', content: 'Speak' }] satisfies Turn[],
  tools: [],
  signal: new AbortController().signal,
});

/** Installs a model that says "tick tock" until its context is full. */
export const installClock = (home: string, slug: string): string =>
  installScripted(home, slug, [' tick', ' tock'], { after: { ' tock': ' tick' } });
