import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** In bytes per second. */
export interface BandwidthRecord {
  /** Returns the maximum of the stored and the new value, and stores it. */
  best(measured: number | null): Promise<number | null>;
}

/** Other programs can only slow down a measurement, so the best value counts. */
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
