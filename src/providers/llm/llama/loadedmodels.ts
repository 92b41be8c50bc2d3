import { existsSync } from 'node:fs';
import type { Cancel, Clock } from '../../../kernel/clock.js';
import { type ConcurrencyGate, createGate, orAborted } from '../../../kernel/gate.js';
import type { Price } from '../model.js';
import { createCrashRecord } from './crashes.js';
import { findModelFiles, type ModelFiles, NotLoaded } from './files.js';
import { type LoadDeps, loadProcess } from './load.js';
import type { LlamaMemory } from './memory.js';
import { createMemoryAllocator } from './memoryallocator.js';
import type { LlamaProcess } from './process.js';
import type { LoadRequest } from './protocol.js';

export interface RequestedModel extends Pick<LoadRequest, 'contextWindow' | 'use'> {
  slug: string;
}

interface Resident {
  key: string;
  slug: string;
  process: LlamaProcess;
  neededBytes: number;
  /** Whether a request runs or is about to. */
  isActive: boolean;
  cancelIdle: Cancel;
}

interface Load {
  slug: string;
  stop: AbortController;
  /** Whether the current caller waits for it. */
  isAwaited: boolean;
}

type BegunLoad = Load & { done: Promise<Resident> };

interface CallerLine {
  gate: ConcurrencyGate;
  callers: number;
}

export interface LoadedModelsDeps {
  load: LoadDeps;
  capabilities: string;
  memory: LlamaMemory;
  clock: Clock;
  idleMs: number;
  closing: AbortSignal;
}

const STOPPING = 'was not called: the daemon is stopping';
const REMOVED = 'it was removed or is damaged';
const UNLOADED = `was not loaded: ${REMOVED}`;

/** Additional time that others wait for memory. A hanging load has ended by then. */
const GRACE_MS = 10_000;

/**
 * Models are loaded on first use, and unloaded when idle or when another needs the memory. Each
 * answers one request at a time. A load that nobody waits for is cancelled.
 */
export const createLoadedModels = (deps: LoadedModelsDeps) => {
  const { capabilities, memory, clock, idleMs, closing } = deps;
  /** Most recently used last. */
  const residents = new Map<string, Resident>();
  const loads = new Map<string, BegunLoad>();
  const lines = new Map<string, CallerLine>();
  const crashes = createCrashRecord();
  const room = createMemoryAllocator({
    memory,
    clock,
    waitMs: deps.load.loadMs + GRACE_MS,
    loaded: () => {
      const all = [...residents.values()];
      const idle = all.find(({ isActive }) => !isActive);
      const bytes = all.reduce((sum, { neededBytes }) => sum + neededBytes, 0);
      return { bytes, unloadIdle: idle ? () => end(idle) : null };
    },
  });

  const end = async (resident: Resident, why?: string): Promise<void> => {
    if (residents.get(resident.key) === resident) residents.delete(resident.key);
    resident.cancelIdle();
    await resident.process.end(why);
    room.changed();
  };

  const activate = (resident: Resident): Resident => {
    resident.cancelIdle();
    resident.isActive = true;
    residents.delete(resident.key);
    residents.set(resident.key, resident);
    return resident;
  };

  const rest = (resident: Resident): void => {
    resident.cancelIdle();
    resident.isActive = false;
    const isThere = residents.get(resident.key) === resident;
    if (isThere)
      resident.cancelIdle = clock.after(idleMs, () => void end(resident), { ref: false });
    room.changed();
  };

  const load = async (wanted: RequestedModel, of: Load): Promise<Resident> => {
    const files = await findModelFiles(capabilities, wanted.slug);
    try {
      return await loadFiles(files, wanted, of);
    } catch (error) {
      // Removal deletes the files first and then stops the load.
      if (existsSync(files.path) && existsSync(files.engine)) throw error;
      throw new NotLoaded('refused_connection', UNLOADED);
    }
  };

  const loadFiles = async (
    files: ModelFiles,
    wanted: RequestedModel,
    of: Load,
  ): Promise<Resident> => {
    const { slug, contextWindow } = wanted;
    const signal = AbortSignal.any([of.stop.signal, closing]);
    crashes.refuse(files);
    const known = await orAborted(memory.neededBytes(files.path, contextWindow), signal);
    const neededBytes = known ?? files.bytes;
    const { need, release } = await room.reserve({ neededBytes, contextWindow }, signal);
    try {
      const process = await loadProcess(deps.load, { wanted, files, need, crashes, signal });
      const key = buildModelKey(wanted);
      const resident: Resident = {
        ...{ key, slug, process, neededBytes },
        isActive: true,
        cancelIdle: () => undefined,
      };
      residents.set(key, resident);
      void process.ended().then(() => end(resident));
      if (!of.isAwaited) rest(resident);
      return resident;
    } finally {
      release();
    }
  };

  const begin = (wanted: RequestedModel): BegunLoad => {
    const key = buildModelKey(wanted);
    const begun = { slug: wanted.slug, stop: new AbortController(), isAwaited: true };
    const done = load(wanted, begun).finally(() => loads.delete(key));
    done.catch(() => undefined);
    const all = Object.assign(begun, { done });
    loads.set(key, all);
    return all;
  };

  const awaitLoad = async (key: string, of: BegunLoad, signal: AbortSignal): Promise<Resident> => {
    of.isAwaited = true;
    try {
      return await orAborted(of.done, signal);
    } catch (error) {
      of.isAwaited = false;
      const left = residents.get(key);
      if (left) rest(left);
      throw error;
    }
  };

  /** One caller per model at a time. */
  const take = async (wanted: RequestedModel, signal: AbortSignal): Promise<Resident> => {
    const key = buildModelKey(wanted);
    const active = (): Resident | null => {
      const there = residents.get(key);
      return there ? activate(there) : null;
    };
    for (;;) {
      signal.throwIfAborted();
      const isThere = residents.has(key);
      const there =
        isThere && room.isShort() ? await room.inTurn(signal, async () => active()) : active();
      if (there) return there;
      const begun = loads.get(key) ?? begin(wanted);
      if (!begun.stop.signal.aborted) return awaitLoad(key, begun, signal);
      await orAborted(Promise.allSettled([begun.done]), signal);
    }
  };

  const endAll = async (
    isMeant: (of: { slug: string }) => boolean,
    why?: string,
  ): Promise<void> => {
    const stopped = [...loads.values()].filter(isMeant);
    for (const { stop } of stopped) stop.abort(new NotLoaded('refused_connection', UNLOADED));
    await Promise.allSettled(stopped.map(({ done }) => done));
    await Promise.all([...residents.values()].filter(isMeant).map((each) => end(each, why)));
  };

  return {
    /** Throws NotLoaded or the abort reason. */
    use: async <T>(
      wanted: RequestedModel,
      signal: AbortSignal,
      work: (process: LlamaProcess) => Promise<T>,
    ): Promise<T> => {
      const key = buildModelKey(wanted);
      const line = lines.get(key) ?? { gate: createGate(1), callers: 0 };
      lines.set(key, line);
      line.callers += 1;
      const either = AbortSignal.any([signal, closing]);
      try {
        const leave = await line.gate(either);
        try {
          const resident = await take(wanted, either);
          return await work(resident.process).finally(() => rest(resident));
        } finally {
          leave();
        }
      } catch (error) {
        if (!closing.aborted || error !== closing.reason) throw error;
        throw new NotLoaded('refused_connection', STOPPING);
      } finally {
        line.callers -= 1;
        if (line.callers === 0) {
          lines.delete(key);
          loads.get(key)?.stop.abort();
        }
      }
    },
    unload: (slug: string | null): Promise<void> =>
      endAll((each) => slug === null || each.slug === slug, REMOVED),
    close: (): Promise<void> => endAll(() => true),
  };
};

export type LoadedModels = ReturnType<typeof createLoadedModels>;

const buildModelKey = ({ slug, contextWindow, use }: RequestedModel): string =>
  `${slug} ${contextWindow} ${use}`;
export interface LlamaOpening {
  name: string;
  modelId: string;
  contextWindow: number;
  maxOutputTokens: number | null;
  takesTools: boolean;
  price: Price | null;
}
