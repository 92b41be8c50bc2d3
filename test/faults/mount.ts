import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
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
