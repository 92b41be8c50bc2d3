import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own, so small that it can be filled. Returns what takes it away. */
export const mountTmpfs = (folder: string, megabytes: number): (() => void) => {
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder];
  execFileSync('mount', options, { stdio: 'ignore' });
  return () => {
    execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
  };
};

/** Why no disk can be mounted here, or null. */
export const whyNoMount = (): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-mount-'));
  try {
    mountTmpfs(folder, 1)();
    return null;
  } catch {
    return 'mounting takes root';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * Fills the disk until not even a page is left, or just so many bytes; the daemon may take the last
 * page itself. Resolves to what empties it.
 */
export const fill = async (folder: string, left = 0): Promise<() => Promise<void>> => {
  const path = join(folder, 'filler');
  const filler = await open(path, 'w');
  const { bavail, bsize } = await statfs(folder);
  const most = left === 0 ? Number.POSITIVE_INFINITY : bavail * bsize - left;
  try {
    for (let size = 0; size < most; size += 4096) await filler.write(Buffer.alloc(4096, 1));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    await filler.close();
  }
  return () => rm(path);
};
