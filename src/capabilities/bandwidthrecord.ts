import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The best bandwidth of memory that was measured on this machine, in bytes a second. */
export interface BandwidthRecord {
  /** Returns the best of what was kept and of what was measured now, and keeps it. */
  best(measured: number | null): Promise<number | null>;
}

/** Opens the record in the folder of capabilities. Programs beside it can only slow a measurement. */
export const openBandwidthRecord = (root: string): BandwidthRecord => {
  const file = join(root, '.bandwidth');
  return {
    best: async (measured) => {
      const before = Number(await readFile(file, 'utf8').catch(() => '0'));
      const best = Math.max(Number.isFinite(before) ? before : 0, measured ?? 0);
      if (best > before) {
        await mkdir(root, { recursive: true, mode: 0o700 });
        await writeFile(`${file}.new`, String(Math.round(best)));
        await rename(`${file}.new`, file);
      }
      return best > 0 ? best : null;
    },
  };
};
