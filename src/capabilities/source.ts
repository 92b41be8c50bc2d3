import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkRoom, DownloadFailed } from './download.js';
import type { Telling } from './fetch.js';
import type { InstallPlan } from './plan.js';
import { type InstalledManifest, readCapabilityManifest, sha256OfFile } from './shelf.js';

interface CopiedPlan {
  /** The folder that `adjutant capabilities export` made. */
  source: string;
  plan: Extract<InstallPlan, { via: 'download' }>;
  folder: string;
}

/**
 * Copies the files of a plan from what was exported on another machine, and compares each with its
 * checksum: the one that the plan names, else the one in the manifest beside it. Throws
 * DownloadFailed.
 */
export const copyFromSource = async (
  { source, plan, folder }: CopiedPlan,
  telling: Telling,
): Promise<void> => {
  const from = join(source, plan.slug);
  const { files } = await exportedIn(source, plan.slug);
  const wanted = plan.files.map(({ path, sha256 }) => {
    const found = files.find((each) => each.path === path);
    if (!found) throw new DownloadFailed(`${from} has no ${path}`, false);
    return { path, bytes: found.bytes, sha256: sha256 ?? found.sha256 };
  });
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  await checkRoom(folder, total);
  let done = 0;
  for (const { path, bytes, sha256 } of wanted) {
    telling.signal.throwIfAborted();
    const to = join(folder, path);
    await copyFile(join(from, path), to).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'it cannot be read';
      throw new DownloadFailed(`${path}: ${reason}`, false);
    });
    if ((await sha256OfFile(to, telling.signal)) !== sha256) {
      throw new DownloadFailed(`${join(from, path)} has not the checksum ${sha256}`, false);
    }
    done += bytes;
    telling.bytes(done, total, 'copied');
  }
};

/** Returns what was exported under a slug. Throws DownloadFailed. */
export const exportedIn = async (source: string, slug: string): Promise<InstalledManifest> => {
  const manifest = await readCapabilityManifest(join(source, slug));
  if (manifest) return manifest;
  throw new DownloadFailed(`${source} has no ${slug}`, false);
};
