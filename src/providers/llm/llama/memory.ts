export interface LlamaMemory {
  /** Null if it is unknown. */
  freeBytes(): Promise<number | null>;
  /** For a model file. Null if it is unknown. Throws NotLoaded for a file that is no model. */
  neededBytes(path: string, contextWindow: number): Promise<number | null>;
}

/** Memory that a model needs, and available memory. */
export interface MemoryNeed {
  neededBytes: number;
  /** Infinity if it is unknown. */
  freeBytes: number;
}

/** Memory that a process may take beyond the estimate. */
const MARGIN_BYTES = 2 * 1024 ** 3;
/** Limit if the free memory is unknown: more than any machine has. */
const MAX_BYTES = 2 ** 50;

/** The free memory, or the estimate with a margin. */
export const memoryLimit = ({ neededBytes, freeBytes }: MemoryNeed): number =>
  Math.min(MAX_BYTES, Math.max(freeBytes, neededBytes + MARGIN_BYTES));

/** Continues after the name of the model. */
export const insufficientMemoryMessage = (
  { neededBytes, freeBytes }: MemoryNeed,
  contextWindow: number,
): string => {
  const need = `it needs ${inGib(neededBytes)} with a context of ${contextWindow} tokens`;
  return `was not loaded: ${need}, but only ${inGib(freeBytes)} of memory are free`;
};

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const inGib = (bytes: number): string =>
  bytes < GIB ? `${Math.ceil(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;
