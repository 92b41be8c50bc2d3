import { type ConcurrencyGate, createGate, unlessAborted } from '../../../kernel/gate.js';
import { createCrashRecord } from './crashes.js';
import { findModelFiles, type ModelFiles, NotLoaded } from './files.js';
import { type LoadDeps, loadProcess } from './load.js';
import { type LlamaMemory, type LoadNeed, tooLarge } from './memory.js';
import type { LlamaProcess } from './process.js';
import type { LoadRequest } from './protocol.js';

/** A model as it is to be loaded. */
export interface WantedModel extends Pick<LoadRequest, 'contextWindow' | 'use'> {
  /** The name of the installed model. */
  slug: string;
}

/** A model in memory. */
interface Resident {
  key: string;
  slug: string;
  process: LlamaProcess;
  neededBytes: number;
  /** True while a request runs, or is about to. */
  isActive: boolean;
  idle: NodeJS.Timeout | undefined;
}

export interface ResidentsDeps {
  load: LoadDeps;
  /** The folder of what is installed. */
  capabilities: string;
  memory: LlamaMemory;
  /** The time after which a model that nobody uses is unloaded. */
  idleMs: number;
}

const STOPPING = 'was not asked: the daemon is stopping';

/**
 * Creates the models in memory. One is loaded at its first use, and unloaded when it was idle for a
 * while, or when another needs its memory. Each answers one request at a time.
 */
export const createResidents = (deps: ResidentsDeps) => {
  const { capabilities, memory, idleMs } = deps;
  const { closing } = deps.load;
  /** The models in memory, the one that was used last at the end. */
  const residents = new Map<string, Resident>();
  const gates = new Map<string, ConcurrencyGate>();
  const crashes = createCrashRecord();
  const loading = createGate(1);
  /** True while a model waits for the memory of others, which then wait for their turn. */
  let isShort = false;
  let wake: () => void = () => undefined;

  const unload = async (resident: Resident): Promise<void> => {
    if (residents.get(resident.key) === resident) residents.delete(resident.key);
    clearTimeout(resident.idle);
    await resident.process.end();
  };

  const activate = (resident: Resident): Resident => {
    clearTimeout(resident.idle);
    resident.isActive = true;
    residents.delete(resident.key);
    residents.set(resident.key, resident);
    return resident;
  };

  const rest = (resident: Resident): void => {
    resident.isActive = false;
    const isThere = residents.get(resident.key) === resident;
    if (isThere) resident.idle = setTimeout(() => void unload(resident), idleMs).unref();
    wake();
  };

  const needOf = async (wanted: WantedModel, files: ModelFiles): Promise<LoadNeed> => {
    const [needed, free] = await Promise.all([
      memory.neededBytes(wanted.slug, wanted.contextWindow),
      memory.freeBytes(),
    ]);
    return { neededBytes: needed ?? files.bytes, freeBytes: free ?? Number.POSITIVE_INFINITY };
  };

  /** Unloads others until the model fits, and waits for those that answer. Throws NotLoaded. */
  const makeRoom = async (wanted: WantedModel, files: ModelFiles, signal: AbortSignal) => {
    for (;;) {
      signal.throwIfAborted();
      const need = await needOf(wanted, files);
      if (need.neededBytes <= need.freeBytes) return need;
      const others = [...residents.values()];
      const taken = others.reduce((sum, { neededBytes }) => sum + neededBytes, 0);
      if (need.neededBytes > need.freeBytes + taken) {
        throw new NotLoaded('refused_connection', tooLarge(need, wanted.contextWindow));
      }
      const idle = others.find(({ isActive }) => !isActive);
      if (idle) await unload(idle);
      else await untilOneRests(signal);
    }
  };

  const untilOneRests = async (signal: AbortSignal): Promise<void> => {
    isShort = true;
    const rested = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await unlessAborted(rested, signal).finally(() => {
      isShort = false;
    });
  };

  const load = async (wanted: WantedModel, signal: AbortSignal): Promise<Resident> => {
    const files = await findModelFiles(capabilities, wanted.slug);
    crashes.refuse(files);
    const need = await makeRoom(wanted, files, signal);
    const process = await loadProcess(deps.load, { wanted, files, need, crashes });
    const { neededBytes } = need;
    const key = keyOf(wanted);
    const { slug } = wanted;
    const resident: Resident = {
      key,
      slug,
      process,
      neededBytes,
      isActive: true,
      idle: undefined,
    };
    residents.set(key, resident);
    void process.ended().then(() => unload(resident));
    return resident;
  };

  /** Returns the model, loaded and active. A load that has begun goes on without its caller. */
  const take = async (wanted: WantedModel, signal: AbortSignal): Promise<Resident> => {
    const key = keyOf(wanted);
    const before = residents.get(key);
    if (before && !isShort) return activate(before);
    const leave = await loading(signal);
    try {
      const there = residents.get(key);
      return there ? activate(there) : await load(wanted, signal);
    } finally {
      leave();
    }
  };

  return {
    /** Runs work on a model when it is the caller's turn. Throws NotLoaded, or the signal's reason. */
    use: async <T>(
      wanted: WantedModel,
      signal: AbortSignal,
      work: (process: LlamaProcess) => Promise<T>,
    ): Promise<T> => {
      const key = keyOf(wanted);
      const gate = gates.get(key) ?? createGate(1);
      gates.set(key, gate);
      const either = AbortSignal.any([signal, closing]);
      const leave = await gate(either).catch(ofClosing(closing));
      try {
        const taken = take(wanted, either);
        const resident = await unlessAborted(taken, either).catch((error) => {
          void taken.then(rest, () => undefined);
          return ofClosing(closing)(error);
        });
        return await work(resident.process).finally(() => rest(resident));
      } finally {
        leave();
      }
    },
    unload: async (slug: string): Promise<void> => {
      const meant = [...residents.values()].filter((each) => each.slug === slug);
      await Promise.all(meant.map(unload));
    },
    /** Ends the processes of all models. */
    close: async (): Promise<void> => {
      await Promise.all([...residents.values()].map(unload));
    },
  };
};

export type Residents = ReturnType<typeof createResidents>;

const keyOf = ({ slug, contextWindow, use }: WantedModel): string =>
  `${slug} ${contextWindow} ${use}`;

/** Returns a function that converts an error which the end of the daemon has caused. */
const ofClosing =
  (closing: AbortSignal) =>
  (error: unknown): never => {
    if (closing.aborted && error === closing.reason) {
      throw new NotLoaded('refused_connection', STOPPING);
    }
    throw error;
  };
