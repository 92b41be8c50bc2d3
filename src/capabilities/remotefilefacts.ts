import type { Clock } from '../kernel/clock.js';
import { EgressRefused } from '../kernel/egress.js';
import { HttpFailure } from '../kernel/failure.js';
import type { Http } from '../kernel/http.js';
import { busyServerError, retryPolicy } from './download.js';
import { DownloadFailed } from './downloadfailed.js';
import { type NextTry, retryBroken } from './retry.js';

export interface RemoteFileFacts {
  sha256: string | null;
  bytes: number | null;
}

interface AskTelling {
  clock: Clock;
  signal: AbortSignal;
  onRetry(next: NextTry): void;
}

/**
 * Uses the headers of Hugging Face for Git LFS files (`X-Linked-Etag`, `X-Linked-Size`). Retries
 * after a broken connection, or if the server is busy.
 */
export const fetchRemoteFileFacts = async (
  http: Pick<Http, 'request'>,
  url: string,
  { clock, signal, onRetry }: AskTelling,
): Promise<RemoteFileFacts> => {
  let headers: Record<string, string> = {};
  const ask = async (): Promise<void> => {
    const reply = await http.request({ method: 'HEAD', url, redirects: 0, signal });
    const busy = busyServerError(reply);
    if (busy) throw busy;
    headers = reply.headers;
  };
  await retryBroken({
    clock,
    signal,
    onRetry,
    work: ask,
    reached: async () => 0,
    ...retryPolicy,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof HttpFailure) throw new DownloadFailed(error.message, true);
    throw error instanceof EgressRefused ? new DownloadFailed(error.message, false) : error;
  });
  const etag = (headers['x-linked-etag'] ?? '').replaceAll('"', '').toLowerCase();
  return {
    sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : null,
    bytes: readSize(headers),
  };
};

/** null if unknown. Asks once, because the download does not need the size. */
export const fetchRemoteFileSize = async (
  http: Pick<Http, 'request'>,
  url: string,
  signal: AbortSignal,
): Promise<number | null> => {
  try {
    const { headers } = await http.request({ method: 'HEAD', url, redirects: 0, signal });
    return readSize(headers);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure || error instanceof EgressRefused) return null;
    throw error;
  }
};

const readSize = (headers: Record<string, string>): number | null => {
  const size = headers['x-linked-size'] ?? '';
  return /^\d{1,15}$/.test(size) ? Number(size) : null;
};

/** For display and storage: removes the query, which may contain a key, and credentials. */
export const redactUrl = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** HTTPS only, except on the loopback interface, which the egress guard controls. */
export const downloadUrlFault = (url: string): string | null => {
  if (!URL.canParse(url)) return 'is not a URL';
  const { protocol, hostname } = new URL(url);
  if (hasCredentials(url)) return 'must not contain a user name or password';
  const isLoopback = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback)
    ? null
    : 'must be an https URL';
};

const hasCredentials = (url: string): boolean => {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
};
