/** A processor for graphics, which models can run on. */
export interface Gpu {
  vendor: 'nvidia' | 'amd' | 'apple' | 'intel' | 'unknown';
  name: string;
  /** Its own memory; null if no source says it. */
  vramBytes: number | null;
  driver: string | null;
  /** True if it uses the memory of the processor. */
  isUnified: boolean;
}

/** The source of one part of what is known of the machine. */
export interface HardwareSource {
  part: 'cpu' | 'memory' | 'gpus' | 'disk';
  source: string;
  /** A sentence about it, such as a limit that counts in place of the machine's own figure. */
  note: string | null;
}

/** The machine, or the part of it that this process may use. What no source says is null. */
export interface Machine {
  platform: string;
  cpu: {
    model: string | null;
    /** Processors that may be used at once. */
    cores: number | null;
    arch: string;
    flags: string[];
  };
  memory: { totalBytes: number | null; availableBytes: number | null };
  gpus: Gpu[];
  disk: { freeBytes: number | null };
  sources: HardwareSource[];
}
