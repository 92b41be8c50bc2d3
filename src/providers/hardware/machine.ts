export interface Gpu {
  vendor: 'nvidia' | 'amd' | 'apple' | 'intel' | 'unknown';
  name: string;
  /** Dedicated memory; null if unknown. */
  vramBytes: number | null;
  driver: string | null;
  /** True if it shares the memory of the processor. */
  isUnified: boolean;
}

export interface HardwareSource {
  part: 'cpu' | 'memory' | 'gpus' | 'disk';
  source: string;
  /** A remark, such as a limit that counts instead of the machine's own figure. */
  note: string | null;
}

/** The machine, or the part of it that this process may use. Unknown values are null. */
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
