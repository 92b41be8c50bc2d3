import type { Clock } from '../../../kernel/clock.js';
import { createGate, orAborted } from '../../../kernel/gate.js';
import { NotLoaded } from './files.js';
import { insufficientMemoryMessage, type LlamaMemory, type MemoryNeed } from './memory.js';

export interface MemoryAllocatorDeps {
  memory: Pick<LlamaMemory, 'freeBytes'>;
  clock: Clock;
  /** Maximum time that a model waits for memory. */
  waitMs: number;
  /** `unloadIdle` is null if all models are busy. */
  loaded(): { bytes: number; unloadIdle: (() => Promise<void>) | null };
}

export interface MemoryRequest {
  neededBytes: number;
  contextWindow: number;
}

export interface ReservedMemory {
  need: MemoryNeed;
  release(): void;
}

/** Memory is assigned in the order of the requests, and reserved while a model loads. */
export const createMemoryAllocator = ({ memory, clock, waitMs, loaded }: MemoryAllocatorDeps) => {
  const turn = createGate(1);
  const reserved = new Set<MemoryNeed>();
  let changes = 0;
  let isShort = false;
  let wake: () => void = () => undefined;

  const changed = (): void => {
    changes += 1;
    wake();
  };

  const untilChange = async (signal: AbortSignal): Promise<void> => {
    isShort = true;
    const change = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await orAborted(change, signal).finally(() => {
      isShort = false;
    });
  };

  /** Unloads idle models and waits for busy ones. Throws NotLoaded. */
  const makeRoom = async (wanted: MemoryRequest, signal: AbortSignal): Promise<MemoryNeed> => {
    const { neededBytes, contextWindow } = wanted;
    for (;;) {
      signal.throwIfAborted();
      const before = changes;
      const free = (await orAborted(memory.freeBytes(), signal)) ?? Number.POSITIVE_INFINITY;
      // The value may be older than the change.
      if (changes !== before) continue;
      const promised = [...reserved].reduce((sum, each) => sum + each.neededBytes, 0);
      const need = { neededBytes, freeBytes: Math.max(0, free - promised) };
      if (neededBytes <= need.freeBytes) return need;
      const { bytes, unloadIdle } = loaded();
      if (reserved.size === 0 && neededBytes > free + bytes) {
        throw new NotLoaded('refused_connection', insufficientMemoryMessage(need, contextWindow));
      }
      await (unloadIdle?.() ?? untilChange(signal));
    }
  };

  /** Throws NotLoaded on timeout. */
  const inTurn = async <T>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const late = clock.deadline(waitMs);
    const either = AbortSignal.any([signal, late]);
    try {
      const leave = await turn(either);
      return await work(either).finally(leave);
    } catch (error) {
      if (!late.aborted || error !== late.reason) throw error;
      const why = `no memory became free within ${waitMs / 1000} s, because other models are in use`;
      throw new NotLoaded('timeout', `was not loaded: ${why}`);
    }
  };

  return {
    inTurn,
    /** Throws NotLoaded or the abort reason. */
    reserve: (wanted: MemoryRequest, callerSignal: AbortSignal): Promise<ReservedMemory> =>
      inTurn(callerSignal, async (signal) => {
        const need = await makeRoom(wanted, signal);
        reserved.add(need);
        const release = (): void => {
          reserved.delete(need);
          changed();
        };
        return { need, release };
      }),
    /** Call it after a model was unloaded or has answered. */
    changed,
    /** Whether a model waits for memory. Others must then queue. */
    isShort: (): boolean => isShort,
  };
};
