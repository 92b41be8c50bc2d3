import { createGate, unlessAborted } from '../../../kernel/gate.js';
import { NotLoaded } from './files.js';
import { type LlamaMemory, type LoadNeed, tooLarge } from './memory.js';

export interface RoomDeps {
  memory: Pick<LlamaMemory, 'freeBytes'>;
  /** The longest time that a model waits for the memory of others. */
  waitMs: number;
  /** The models in memory: the bytes of all, and one that may be unloaded; null: all of them answer. */
  loaded(): { bytes: number; unloadIdle: (() => Promise<void>) | null };
}

/** The memory that a model is to have. */
export interface RoomWanted {
  neededBytes: number;
  contextWindow: number;
}

/** Memory that is kept for a model while it loads. */
export interface ReservedMemory {
  need: LoadNeed;
  /** Ends it: the model is in memory, or is not loaded after all. */
  release(): void;
}

/**
 * Creates the memory for models, which is given in the order in which it is asked for. What a model
 * that loads will take is reserved, so that several load at once only where all of them fit.
 */
export const createRoom = ({ memory, waitMs, loaded }: RoomDeps) => {
  const turn = createGate(1);
  const reserved = new Set<LoadNeed>();
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
    await unlessAborted(change, signal).finally(() => {
      isShort = false;
    });
  };

  /** Unloads idle models until it fits, and waits for those that load or answer. Throws NotLoaded. */
  const makeRoom = async (wanted: RoomWanted, signal: AbortSignal): Promise<LoadNeed> => {
    const { neededBytes, contextWindow } = wanted;
    for (;;) {
      signal.throwIfAborted();
      const before = changes;
      const free = (await unlessAborted(memory.freeBytes(), signal)) ?? Number.POSITIVE_INFINITY;
      // What was read may be older than the change.
      if (changes !== before) continue;
      const promised = [...reserved].reduce((sum, each) => sum + each.neededBytes, 0);
      const need = { neededBytes, freeBytes: Math.max(0, free - promised) };
      if (neededBytes <= need.freeBytes) return need;
      const { bytes, unloadIdle } = loaded();
      if (reserved.size === 0 && neededBytes > free + bytes) {
        throw new NotLoaded('refused_connection', tooLarge(need, contextWindow));
      }
      await (unloadIdle?.() ?? untilChange(signal));
    }
  };

  /** Does something when it is the caller's turn. Throws NotLoaded if that takes too long. */
  const inTurn = async <T>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const late = AbortSignal.timeout(waitMs);
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
    /** Reserves memory, once there is enough. Throws NotLoaded, or the signal's reason. */
    reserve: (wanted: RoomWanted, given: AbortSignal): Promise<ReservedMemory> =>
      inTurn(given, async (signal) => {
        const need = await makeRoom(wanted, signal);
        reserved.add(need);
        const release = (): void => {
          reserved.delete(need);
          changed();
        };
        return { need, release };
      }),
    /** Tells that a model has been unloaded, or has answered. */
    changed,
    /** True while a model waits for the memory of others, which then wait for their turn. */
    isShort: (): boolean => isShort,
  };
};
