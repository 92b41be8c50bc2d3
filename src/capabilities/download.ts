import { createHash, type Hash } from 'node:crypto';
import { open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../kernel/clock.js';
import { BadUrl, EgressRefused } from '../kernel/egress.js';
import { errorCode, HttpFailure, isDiskFull } from '../kernel/failure.js';
import type { Http, OpenedReply } from '../kernel/http.js';
import { hashRegularFile } from '../kernel/regularfile.js';
import { checkDiskSpace } from './diskspace.js';
import { DownloadFailed } from './downloadfailed.js';
import { createByteRate } from './rate.js';
import {
  buildRangeHeaders,
  bytesOnDisk,
  canResume,
  contentOffset,
  deletePartialFile,
  getEtagPath,
  totalBytes,
} from './resume.js';
import { type NextTry, retryBroken } from './retry.js';

export interface Download {
  url: string;
  /** An existing partial file is resumed. */
  to: string;
  /** null: not known in advance. */
  bytes: number | null;
  sha256: string;
  /** Expected beginning of the file. A different one fails at once. */
  begin?: string;
}

export interface DownloadProgress {
  done: number;
  total: number | null;
  /** Bytes per second, over the last few seconds. */
  rate: number;
}

interface DownloadOptions {
  clock: Clock;
  signal: AbortSignal;
  onProgress(progress: DownloadProgress): void;
  onRetry?(next: NextTry): void;
}

/** Bytes written between two checks of the free disk space. */
const CHECKED_EACH = 32 * 1024 * 1024;
const LIMITS = {
  firstByteMs: 60_000,
  silenceMs: 60_000,
  totalMs: 2_000_000_000,
  maxBytes: Number.MAX_SAFE_INTEGER,
  redirects: 5,
};

/**
 * Resumes a partial file (RFC 9110, 14: Range, If-Range) and reconnects. Throws DownloadFailed and
 * deletes an invalid file. On abort it throws the reason of the signal and keeps the partial file.
 */
export const download = async (
  http: Pick<Http, 'open'>,
  file: Download,
  { clock, signal, onProgress, onRetry = () => undefined }: DownloadOptions,
): Promise<void> => {
  const rate = createByteRate();
  try {
    await retryBroken({
      clock,
      signal,
      onRetry,
      work: () => attempt(http, file, { signal, onProgress, rate }),
      reached: () => bytesOnDisk(file.to),
      ...retryPolicy,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw await toDownloadError(file, error);
  }
};

/**
 * null unless the server is temporarily unavailable (5xx, 429). `Retry-After` is in seconds, or a
 * date by the server's clock (RFC 9110, 10.2.3).
 */
export const busyServerError = ({ url, status, headers }: ServerReply): DownloadFailed | null => {
  if (status < 500 && status !== 429) return null;
  const after = headers['retry-after'] ?? '';
  const untilMs = Date.parse(after) - Date.parse(headers.date ?? '');
  const askedMs = /^\d{1,7}$/.test(after) ? Number(after) * 1000 : untilMs;
  const busyMs = Math.max(0, askedMs || 0);
  return new DownloadFailed(`${new URL(url).hostname} returned ${status}`, true, busyMs);
};

interface ServerReply {
  url: string;
  status: number;
  headers: Record<string, string>;
}

export const retryPolicy = {
  brokenBy: (error: unknown): string | null => {
    const isBusy = error instanceof DownloadFailed && error.busyMs !== null;
    return isBusy || isRetryableFailure(error) ? error.message : null;
  },
  askedMs: (error: unknown): number => (error instanceof DownloadFailed ? (error.busyMs ?? 0) : 0),
};

const isRetryableFailure = (error: unknown): error is HttpFailure =>
  error instanceof HttpFailure &&
  !(error.cause instanceof BadUrl) &&
  !PERMANENT_FAILURES.test(error.kind) &&
  !isUnknownHost(error);

/** EAI_AGAIN means that the DNS server does not respond. */
const isUnknownHost = ({ kind, cause }: HttpFailure): boolean =>
  kind === 'dns' && errorCode(cause) === 'ENOTFOUND';

/** Failures that a retry cannot solve. */
const PERMANENT_FAILURES =
  /^(tls|too_many_redirects|too_large|invalid_request|unknown_encoding|undecodable)$/;

const toDownloadError = async (file: Download, error: unknown): Promise<unknown> => {
  if (error instanceof EgressRefused) return new DownloadFailed(error.message, false);
  if (error instanceof BadUrl) return new DownloadFailed(error.message, false);
  if (error instanceof HttpFailure) {
    const { cause, host } = error;
    // A failure of TLS or DNS does not invalidate the partial file.
    const isOfWay = error.kind === 'tls' || error.kind === 'dns';
    if (!(cause instanceof BadUrl)) {
      return new DownloadFailed(error.message, isOfWay || isRetryableFailure(error));
    }
    return new DownloadFailed(`${host} redirects to an invalid URL: ${cause.message}`, false);
  }
  if (isDiskFull(error)) {
    await deletePartialFile(file);
    return new DownloadFailed('The disk is full', false);
  }
  if (error instanceof DownloadFailed && !error.isResumable) await deletePartialFile(file);
  return error;
};

interface DownloadAttempt {
  signal: AbortSignal;
  onProgress(progress: DownloadProgress): void;
  rate: ReturnType<typeof createByteRate>;
}

const attempt = async (
  http: Pick<Http, 'open'>,
  file: Download,
  { signal, onProgress, rate }: DownloadAttempt,
): Promise<void> => {
  const from = await bytesOnDisk(file.to);
  const hash = createHash('sha256');
  if (from > 0) {
    // Reports the partial file at once, even if the server does not respond.
    onProgress({ done: from, total: file.bytes, rate: 0 });
    await hashRegularFile({ path: file.to, hash, signal });
  }
  if (from > 0 && from === file.bytes) return finish(file, hash);
  const reply = await http.open({
    method: 'GET',
    url: file.url,
    headers: { 'accept-encoding': 'identity', ...(await buildRangeHeaders(file, from)) },
    ...LIMITS,
    keepsTls: true,
    signal,
  });
  if (isComplete(reply, from)) {
    reply.body.cancel();
    return finish(file, hash);
  }
  if (from > 0 && !(await canResume(file, reply, from))) {
    reply.body.cancel();
    await deletePartialFile(file);
    return attempt(http, file, { signal, onProgress, rate });
  }
  const begin = await checkReplyOffset(file, reply, from);
  const place = { begin, hash: begin === from ? hash : createHash('sha256') };
  await appendBody(file, reply, place, ({ done, total, added }) =>
    onProgress({ done, total, rate: rate(added) }),
  );
};

interface BodyPlace {
  begin: number;
  /** Hash of the bytes before `begin`. */
  hash: Hash;
}

const appendBody = async (
  file: Download,
  reply: OpenedReply,
  { begin, hash }: BodyPlace,
  reported: (of: { done: number; total: number | null; added: number }) => void,
): Promise<void> => {
  const length = totalBytes(reply, begin);
  if (file.bytes !== null && length !== null && length < file.bytes) {
    reply.body.cancel();
    throw tooShort(length, file.bytes);
  }
  const total = file.bytes ?? length;
  let head = begin === 0 ? (file.begin ?? '') : '';
  const done = await writeBody({ to: file.to, begin, total }, reply, (piece, written) => {
    head = checkBegin(head, piece);
    hash.update(piece);
    reported({ done: written, total, added: piece.length });
  });
  if (total !== null && done < total) {
    const host = new URL(file.url).hostname;
    throw new HttpFailure('reset', { host, effectBegan: true });
  }
  await finish({ ...file, bytes: total }, hash);
};

/** Returns the rest of the expected beginning. */
const checkBegin = (wanted: string, piece: Uint8Array): string => {
  if (wanted === '') return '';
  const found = Buffer.from(piece.subarray(0, wanted.length)).toString('latin1');
  if (wanted.startsWith(found)) return wanted.slice(found.length);
  throw new DownloadFailed(
    `The downloaded file does not begin with "${wanted}" and was deleted. Check the URL and install again`,
    false,
  );
};

const writeBody = async (
  { to, begin, total }: { to: string; begin: number; total: number | null },
  { body }: OpenedReply,
  wrote: (piece: Uint8Array, done: number) => void,
): Promise<number> => {
  let done = begin;
  let unchecked = 0;
  try {
    await checkDiskSpace(dirname(to), (total ?? begin) - begin);
    const handle = await open(to, begin === 0 ? 'w' : 'a');
    try {
      for (let piece = await body.read(); piece; piece = await body.read()) {
        done += piece.length;
        unchecked += piece.length;
        if (unchecked > CHECKED_EACH) {
          unchecked = 0;
          await checkDiskSpace(dirname(to), 0);
        }
        if (total !== null && done > total) throw tooLong(total);
        await handle.writeFile(piece);
        wrote(piece, done);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
  } finally {
    body.cancel();
  }
  return done;
};

/** RFC 9110, 15.5.17: nothing is left to send. */
const isComplete = ({ status, headers }: OpenedReply, from: number): boolean =>
  from > 0 && status === 416 && headers['content-range'] === `bytes */${from}`;

const tooLong = (bytes: number): DownloadFailed =>
  new DownloadFailed(
    `The file is longer than the expected ${bytes} bytes. The file was deleted. Check the URL, then install again`,
    false,
  );

const tooShort = (length: number, bytes: number): DownloadFailed =>
  new DownloadFailed(
    `The file has ${length} bytes, expected ${bytes}. The file was deleted. Check the URL, then install again`,
    false,
  );

const finish = async (file: Download, hash: Hash): Promise<void> => {
  const found = hash.digest('hex');
  if (found === file.sha256) return rm(getEtagPath(file.to), { force: true });
  throw new DownloadFailed(
    `Checksum mismatch: ${found}, expected ${file.sha256}. The file was deleted. Check the URL and the checksum, then install again`,
    false,
  );
};

const checkReplyOffset = async (
  file: Download,
  reply: OpenedReply,
  from: number,
): Promise<number> => {
  const { status, headers } = reply;
  const place = status === 200 || status === 206 ? contentOffset(reply) : null;
  if (place === null || (place !== from && place !== 0)) {
    reply.body.cancel();
    const host = new URL(reply.url).hostname;
    throw busyServerError(reply) ?? new DownloadFailed(`${host} returned ${status}`, false);
  }
  if (headers.etag) await writeFile(getEtagPath(file.to), headers.etag);
  return place;
};
