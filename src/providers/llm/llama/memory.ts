/** The memory of the machine, and that which models take. */
export interface LlamaMemory {
  /** Returns the bytes that models may take now beside what runs; null: it is not known. */
  freeBytes(): Promise<number | null>;
  /** Returns the bytes that an installed model takes with such a context; null: it is not known. */
  neededBytes(slug: string, contextWindow: number): Promise<number | null>;
}

/** The memory that a model needs, and that which there is. */
export interface LoadNeed {
  neededBytes: number;
  /** Infinity: it is not known. */
  freeBytes: number;
}

/** Ours: what a process may take beside the need that was foreseen for it. */
const MARGIN_BYTES = 2 * 1024 ** 3;
/** Ours: the limit where the free memory is not known: none that a machine reaches. */
const MAX_BYTES = 2 ** 50;

/** Returns the most bytes that the process of a model may take: what is free, or more if need be. */
export const memoryLimit = ({ neededBytes, freeBytes }: LoadNeed): number =>
  Math.min(MAX_BYTES, Math.max(freeBytes, neededBytes + MARGIN_BYTES));

/** Returns the refusal of a model that does not fit, which goes on after its name. */
export const tooLarge = ({ neededBytes, freeBytes }: LoadNeed, contextWindow: number): string => {
  const need = `it needs ${inGib(neededBytes)} with a context of ${contextWindow} tokens`;
  return `was not loaded: ${need}, but only ${inGib(freeBytes)} of memory are free`;
};

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const inGib = (bytes: number): string =>
  bytes < GIB ? `${Math.ceil(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;
