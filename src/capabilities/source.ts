import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkRoom, DownloadFailed } from './download.js';
import type { Telling } from './fetch.js';
import type { InstallPlan } from './plan.js';
import { readCapabilityManifest, sha256OfFile } from './shelf.js';

interface CopiedPlan {
  /** The folder that `adjutant capabilities export` made. */
  source: string;
  plan: InstallPlan;
  folder: string;
}

/**
 * Copies what was exported on another machine, and compares each file with its checksum: the one
 * that the plan names, else the one in the manifest beside it. Throws DownloadFailed.
 */
export const copyFromSource = async (
  { source, plan, folder }: CopiedPlan,
  telling: Telling,
): Promise<void> => {
  const from = join(source, plan.slug);
  const manifest = await readCapabilityManifest(from);
  if (!manifest) throw new DownloadFailed(`${source} has no ${plan.slug}`, false);
  if (manifest.source !== plan.source) {
    const message = `${from} was made for another machine or version: ${manifest.source} in place of ${plan.source}`;
    throw new DownloadFailed(message, false);
  }
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  await checkRoom(folder, total);
  let done = 0;
  for (const { path, bytes, sha256 } of manifest.files) {
    telling.signal.throwIfAborted();
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(join(from, path), to).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'it cannot be read';
      throw new DownloadFailed(`${join(from, path)}: ${reason}`, false);
    });
    const found = await sha256OfFile(to, telling.signal);
    const wanted = plannedSum(plan, path) ?? sha256;
    if (found !== wanted) {
      throw new DownloadFailed(`${join(from, path)} has not the checksum ${wanted}`, false);
    }
    done += bytes;
    telling.bytes(done, total, 'copied');
  }
};

const plannedSum = (plan: InstallPlan, path: string): string | null =>
  plan.via === 'download' ? (plan.files.find((file) => file.path === path)?.sha256 ?? null) : null;
