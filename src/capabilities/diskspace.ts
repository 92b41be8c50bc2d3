import { stat, statfs } from 'node:fs/promises';
import { DownloadFailed } from './downloadfailed.js';
import { readWithTimeout } from './readtimeout.js';

/** Reserved for the database and its log. */
const RESERVED_BYTES = 512 * 1024 * 1024;

export const checkDiskSpace = async (folder: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize - RESERVED_BYTES;
  if (bytes <= free) return;
  if (bytes === 0)
    throw new DownloadFailed(
      `The disk is full: less than ${sizeText(RESERVED_BYTES)} are free, which are reserved for the database. Free some disk space`,
      false,
    );
  throw new DownloadFailed(
    `Not enough disk space: ${sizeText(bytes)} required, ${sizeText(free)} available (without ${sizeText(RESERVED_BYTES)} reserved for the database). Free some disk space`,
    false,
  );
};

/** A server may declare any length. */
const sizeText = (bytes: number): string =>
  bytes > 2 ** 50 ? 'more than 1024 TiB' : `${Math.max(0, Math.round(bytes / 2 ** 20))} MiB`;

/**
 * Uses the first existing folder. False if none exists or responds, or the size is not known.
 * Throws DownloadFailed if the space does not suffice.
 */
export const checkDiskSpaceIn = async (
  folders: string[],
  bytes: number | null,
): Promise<boolean> => {
  if (bytes === null) return false;
  for (const folder of folders) {
    const isChecked = await readWithTimeout(folder, () => checkFolderSpace(folder, bytes), false);
    if (isChecked) return true;
  }
  return false;
};

const checkFolderSpace = async (folder: string, bytes: number): Promise<boolean> => {
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) return false;
  await checkDiskSpace(folder, bytes);
  return true;
};
