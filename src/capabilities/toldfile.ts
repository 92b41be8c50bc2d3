import { EgressRefused } from '../kernel/egress.js';
import { HttpFailure } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { breaks, busyServer, DownloadFailed } from './download.js';
import { type NextTry, retryBroken } from './retry.js';

/** The checksum and the length that a server tells of a file before it is fetched. */
export interface ToldFile {
  sha256: string | null;
  bytes: number | null;
}

interface AskTelling {
  signal: AbortSignal;
  /** Hears of the next try. */
  waits(next: NextTry): void;
}

/**
 * Asks the server of a file for its checksum, as Hugging Face tells it of files in Git LFS
 * (`X-Linked-Etag`, `X-Linked-Size`). It is asked again after a broken connection, and where it is busy.
 */
export const askFile = async (
  http: Pick<Http, 'request'>,
  url: string,
  { signal, waits }: AskTelling,
): Promise<ToldFile> => {
  let headers: Record<string, string> = {};
  const ask = async (): Promise<void> => {
    const reply = await http.request({ method: 'HEAD', url, redirects: 0, signal });
    const busy = busyServer(reply);
    if (busy) throw busy;
    headers = reply.headers;
  };
  await retryBroken({ signal, waits, work: ask, reached: async () => 0, ...breaks }).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof HttpFailure) throw new DownloadFailed(error.message, true);
      throw error instanceof EgressRefused ? new DownloadFailed(error.message, false) : error;
    },
  );
  const etag = (headers['x-linked-etag'] ?? '').replaceAll('"', '').toLowerCase();
  const size = headers['x-linked-size'] ?? '';
  return {
    sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : null,
    bytes: /^\d{1,15}$/.test(size) ? Number(size) : null,
  };
};

/**
 * Returns an address as it is shown, recorded and exported. Its query may be a key, as in a signed
 * address, so that it is kept with the work alone; a name and a password in it go too.
 */
export const withoutQuery = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** Returns true if an address holds a name or a password. */
export const hasCredentials = (url: string): boolean => {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
};
