import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import { checkDiskSpace } from './diskspace.js';
import { download } from './download.js';
import { DownloadFailed } from './downloadfailed.js';
import type { InstalledFile } from './installedmodels.js';
import type { InstallPlan, PlannedFile } from './installplan.js';
import { fetchRemoteFileFacts, fetchRemoteFileSize, redactUrl } from './remotefilefacts.js';
import type { NextTry } from './retry.js';

export interface ProgressReporter {
  clock: Clock;
  signal: AbortSignal;
  bytes(done: number, total: number | null, note: string): void;
  note(note: string): void;
  onRetry(next: NextTry): void;
}

interface FetchedPlan {
  plan: Extract<InstallPlan, { via: 'download' }>;
  folder: string;
}

export const fetchFiles = async (
  http: Pick<Http, 'open' | 'request'>,
  { plan, folder }: FetchedPlan,
  telling: ProgressReporter,
): Promise<InstalledFile[]> => {
  const files: (PlannedFile & { sha256: string })[] = [];
  for (const file of plan.files) files.push(await known(http, file, telling));
  const total = files.every(({ bytes }) => bytes !== null)
    ? files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
    : null;
  await checkDiskSpace(folder, total ?? 0);
  const fetched: InstalledFile[] = [];
  let before = 0;
  for (const { url, path, bytes, sha256 } of files) {
    const to = join(folder, path);
    let size = bytes ?? 0;
    await download(
      http,
      { url, to, bytes, sha256, ...(path.endsWith('.gguf') && { begin: 'GGUF' }) },
      {
        clock: telling.clock,
        signal: telling.signal,
        onRetry: telling.onRetry,
        onProgress: ({ done, total: all, rate }) => {
          size = all ?? done;
          const whole = files.length === 1 ? (total ?? all) : total;
          telling.bytes(before + done, whole, rateText(rate));
        },
      },
    );
    before += size;
    fetched.push({ path, bytes: (await stat(to)).size, sha256 });
  }
  return fetched;
};

const known = async (
  http: Pick<Http, 'request'>,
  file: PlannedFile,
  telling: ProgressReporter,
): Promise<PlannedFile & { sha256: string }> => {
  if (file.sha256 !== null && file.bytes !== null) return { ...file, sha256: file.sha256 };
  if (file.sha256 !== null) {
    const bytes = await fetchRemoteFileSize(http, file.url, telling.signal);
    return { ...file, sha256: file.sha256, bytes };
  }
  const reported = await fetchRemoteFileFacts(http, file.url, telling);
  const { sha256 } = reported;
  if (sha256 !== null) return { ...file, sha256, bytes: file.bytes ?? reported.bytes };
  throw new DownloadFailed(
    `The server provides no checksum for ${redactUrl(file.url)}. Send the SHA-256 checksum of the file in sha256`,
    false,
  );
};

const rateText = (bytesPerSecond: number): string =>
  bytesPerSecond >= 1024 ** 2
    ? `${(bytesPerSecond / 1024 ** 2).toFixed(1)} MiB/s`
    : `${Math.round(bytesPerSecond / 1024)} KiB/s`;
