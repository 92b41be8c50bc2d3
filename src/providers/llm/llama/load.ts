import { dirname } from 'node:path';
import type { Clock } from '../../../kernel/clock.js';
import { type Confinement, ConfinementFailed } from '../../confine/confinement.js';
import type { createCrashRecord } from './crashes.js';
import { damagedFileAdvice, type ModelFiles, NotLoaded } from './files.js';
import { type MemoryNeed, memoryLimit } from './memory.js';
import { type LlamaProcess, LlamaProcessEnded, startLlamaProcess } from './process.js';
import type { LoadRequest } from './protocol.js';

export interface LoadDeps {
  scratch: string;
  confinement: Confinement;
  clock: Clock;
  /** Some files block the engine forever. */
  loadMs: number;
  useGpu: boolean;
  threads(): number;
}

interface LoadOf {
  wanted: Pick<LoadRequest, 'contextWindow' | 'use'>;
  files: ModelFiles;
  need: MemoryNeed;
  crashes: ReturnType<typeof createCrashRecord>;
  /** Aborted when nobody waits any more, or when the model or the daemon goes. */
  signal: AbortSignal;
}

/** Throws NotLoaded or the abort reason. */
export const loadProcess = async (deps: LoadDeps, of: LoadOf): Promise<LlamaProcess> => {
  const process = await start(deps, of);
  const late = deps.clock.deadline(deps.loadMs);
  const stop = (): void => void process.end();
  late.addEventListener('abort', stop);
  of.signal.addEventListener('abort', stop);
  if (of.signal.aborted) stop();
  try {
    await loaded(process, deps, of);
    of.signal.throwIfAborted();
    of.crashes.forget(of.files);
    return process;
  } catch (error) {
    await process.end();
    of.signal.throwIfAborted();
    if (!(error instanceof LlamaProcessEnded)) throw error;
    const how = late.aborted ? `it did not load within ${deps.loadMs / 1000} s` : error.message;
    of.crashes.add(of.files, how);
    const kind = late.aborted ? 'timeout' : 'refused_connection';
    throw new NotLoaded(kind, `was not loaded: ${how}`);
  } finally {
    late.removeEventListener('abort', stop);
    of.signal.removeEventListener('abort', stop);
  }
};

const start = async (deps: LoadDeps, { files, need }: LoadOf): Promise<LlamaProcess> => {
  const { scratch, confinement } = deps;
  const readable = [files.engine, dirname(files.path)];
  try {
    return await startLlamaProcess({
      scratch,
      confinement,
      readable,
      memoryBytes: memoryLimit(need),
    });
  } catch (error) {
    if (!(error instanceof ConfinementFailed)) throw error;
    throw new NotLoaded('refused_connection', `was not loaded: ${error.message}`);
  }
};

/** Text of the engine for a file that it cannot read. */
const NO_CAUSE = 'Failed to load model';
const INCOMPLETE_FILE = 'The file may be incomplete or damaged';

const loaded = async (
  process: LlamaProcess,
  { useGpu, threads }: LoadDeps,
  { wanted, files }: LoadOf,
): Promise<void> => {
  const { contextWindow, use } = wanted;
  const { engine, path: model } = files;
  const end = await process.ask(
    { do: 'load', engine, model, contextWindow, use, threads: threads(), useGpu },
    { signal: new AbortController().signal },
  );
  if (end.is === 'loaded') return;
  let why = 'the process of the model sent an unexpected reply. Try again';
  if (end.is === 'failed') {
    why =
      end.message === NO_CAUSE
        ? `${NO_CAUSE}. ${INCOMPLETE_FILE}. ${damagedFileAdvice(model)}`
        : end.message;
  }
  throw new NotLoaded('refused_connection', `was not loaded: ${why}`);
};
