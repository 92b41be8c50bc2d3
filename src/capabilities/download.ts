import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BadUrl, EgressRefused } from '../kernel/egress.js';
import { errorCode, HttpFailure, isDiskFull, NamedError } from '../kernel/failure.js';
import type { Http, OpenedReply } from '../kernel/http.js';
import { createByteRate } from './rate.js';
import {
  bytesOnDisk,
  contentOffset,
  etagOf,
  forget,
  goesOn,
  rangeOf,
  totalBytes,
} from './resume.js';
import { type NextTry, retryBroken } from './retry.js';
import { checkRoom } from './room.js';

/** One file to fetch. */
export interface Download {
  url: string;
  /** The file in which it is put together; what is there already is kept and gone on from. */
  to: string;
  /** The bytes that it must have; null if that is not known before. */
  bytes: number | null;
  sha256: string;
  /** The text with which the file begins; another one is refused at once. */
  begin?: string;
}

export interface DownloadProgress {
  done: number;
  total: number | null;
  /** Bytes in a second, of the last few seconds. */
  rate: number;
}

/** The way in which a download tells how far it is. */
interface DownloadTelling {
  signal: AbortSignal;
  told(progress: DownloadProgress): void;
  /** Hears of the next try after a broken connection. */
  waits?(next: NextTry): void;
}

/** The error of a download that cannot succeed; it says why. */
export class DownloadFailed extends NamedError {
  constructor(
    message: string,
    /** True if what is there may be gone on from. */
    readonly isResumable: boolean,
    /** The time for which a busy server asks to be left alone, in milliseconds; null: it is none. */
    readonly busyMs: number | null = null,
  ) {
    super(message);
  }
}

/** Ours: while a file is written, the room is checked again each time after so many bytes. */
const CHECKED_EACH = 32 * 1024 * 1024;
const LIMITS = {
  firstByteMs: 60_000,
  silenceMs: 60_000,
  totalMs: 2_000_000_000,
  maxBytes: Number.MAX_SAFE_INTEGER,
  redirects: 5,
};

/**
 * Fetches a file with its checksum. It goes on from what is there (RFC 9110, 14: Range, If-Range),
 * after a broken connection by itself. Throws DownloadFailed; a file that is not what it should be is
 * removed. Throws the reason of the signal, and keeps what is there.
 */
export const download = async (
  http: Pick<Http, 'open'>,
  file: Download,
  { signal, told, waits = () => undefined }: DownloadTelling,
): Promise<void> => {
  const rate = createByteRate();
  try {
    await retryBroken({
      signal,
      waits,
      work: () => attempt(http, file, { signal, told, rate }),
      reached: () => bytesOnDisk(file.to),
      ...breaks,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw await refused(file, error);
  }
};

/**
 * Returns the error of a server that cannot answer for now (5xx, 429); null for another status. It may
 * say when to come again, in seconds or as a date by its own clock (RFC 9110, 10.2.3).
 */
export const busyServer = ({ url, status, headers }: Answered): DownloadFailed | null => {
  if (status < 500 && status !== 429) return null;
  const after = headers['retry-after'] ?? '';
  const untilMs = Date.parse(after) - Date.parse(headers.date ?? '');
  const askedMs = /^\d{1,7}$/.test(after) ? Number(after) * 1000 : untilMs;
  const busyMs = Math.max(0, askedMs || 0);
  return new DownloadFailed(`${new URL(url).hostname} returned ${status}`, true, busyMs);
};

interface Answered {
  url: string;
  status: number;
  headers: Record<string, string>;
}

/** The errors of a request after which it is done again, and when. */
export const breaks = {
  brokenBy: (error: unknown): string | null => {
    const isBusy = error instanceof DownloadFailed && error.busyMs !== null;
    return isBusy || isBreak(error) ? error.message : null;
  },
  askedMs: (error: unknown): number => (error instanceof DownloadFailed ? (error.busyMs ?? 0) : 0),
};

/** Returns true for a failure of the network that may be over at the next try. */
const isBreak = (error: unknown): error is HttpFailure =>
  error instanceof HttpFailure &&
  !(error.cause instanceof BadUrl) &&
  !LASTING.test(error.kind) &&
  !hasNoSuchName(error);

/** Returns true for a name that does not exist; EAI_AGAIN is a server of names that does not answer. */
const hasNoSuchName = ({ kind, cause }: HttpFailure): boolean =>
  kind === 'dns' && errorCode(cause) === 'ENOTFOUND';

/** The failures that another try does not mend. */
const LASTING = /^(tls|too_many_redirects|too_large|invalid_request|unknown_encoding|undecodable)$/;

/** Removes what is not what it should be. Returns the error to throw. */
const refused = async (file: Download, error: unknown): Promise<unknown> => {
  if (error instanceof EgressRefused) return new DownloadFailed(error.message, false);
  if (error instanceof BadUrl) return new DownloadFailed(error.message, false);
  if (error instanceof HttpFailure) {
    const { cause, host } = error;
    // The way there says nothing about what is there already.
    const isOfWay = error.kind === 'tls' || error.kind === 'dns';
    if (!(cause instanceof BadUrl)) {
      return new DownloadFailed(error.message, isOfWay || isBreak(error));
    }
    return new DownloadFailed(`${host} redirects to an invalid URL: ${cause.message}`, false);
  }
  if (isDiskFull(error)) {
    await forget(file);
    return new DownloadFailed('The disk is full', false);
  }
  if (error instanceof DownloadFailed && !error.isResumable) await forget(file);
  return error;
};

interface DownloadAttempt {
  signal: AbortSignal;
  told(progress: DownloadProgress): void;
  rate: ReturnType<typeof createByteRate>;
}

const attempt = async (
  http: Pick<Http, 'open'>,
  file: Download,
  { signal, told, rate }: DownloadAttempt,
): Promise<void> => {
  const from = await bytesOnDisk(file.to);
  const hash = createHash('sha256');
  if (from > 0) {
    // What is there counts at once, also while the server does not answer.
    told({ done: from, total: file.bytes, rate: 0 });
    await hashInto(hash, file.to, signal);
  }
  if (from > 0 && from === file.bytes) return finish(file, hash);
  const reply = await http.open({
    method: 'GET',
    url: file.url,
    headers: { 'accept-encoding': 'identity', ...(await rangeOf(file, from)) },
    ...LIMITS,
    keepsTls: true,
    signal,
  });
  if (isComplete(reply, from)) {
    reply.body.cancel();
    return finish(file, hash);
  }
  if (from > 0 && !(await goesOn(file, reply, from))) {
    reply.body.cancel();
    await forget(file);
    return attempt(http, file, { signal, told, rate });
  }
  const begin = await beginOf(file, reply, from);
  const place = { begin, hash: begin === from ? hash : createHash('sha256') };
  await takeBody(file, reply, place, ({ done, total, added }) =>
    told({ done, total, rate: rate(added) }),
  );
};

interface BodyPlace {
  begin: number;
  /** Of the bytes before it. */
  hash: Hash;
}

/** Puts the body of a reply behind what is there, and ends the file. Throws where it is not whole. */
const takeBody = async (
  file: Download,
  reply: OpenedReply,
  { begin, hash }: BodyPlace,
  told: (of: { done: number; total: number | null; added: number }) => void,
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
    told({ done: written, total, added: piece.length });
  });
  if (total !== null && done < total) {
    const host = new URL(file.url).hostname;
    throw new HttpFailure('reset', { host, effectBegan: true });
  }
  await finish({ ...file, bytes: total }, hash);
};

/** Returns what is still to come of the text with which a file begins. Throws DownloadFailed for another. */
const checkBegin = (wanted: string, piece: Uint8Array): string => {
  if (wanted === '') return '';
  const found = Buffer.from(piece.subarray(0, wanted.length)).toString('latin1');
  if (wanted.startsWith(found)) return wanted.slice(found.length);
  throw new DownloadFailed(`The file does not begin with "${wanted}". It was removed`, false);
};

/** Writes a body behind what is there, while there is room. Returns the length of the file. */
const writeBody = async (
  { to, begin, total }: { to: string; begin: number; total: number | null },
  { body }: OpenedReply,
  wrote: (piece: Uint8Array, done: number) => void,
): Promise<number> => {
  let done = begin;
  let unchecked = 0;
  try {
    await checkRoom(dirname(to), (total ?? begin) - begin);
    const handle = await open(to, begin === 0 ? 'w' : 'a');
    try {
      for (let piece = await body.read(); piece; piece = await body.read()) {
        done += piece.length;
        unchecked += piece.length;
        if (unchecked > CHECKED_EACH) {
          unchecked = 0;
          await checkRoom(dirname(to), 0);
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

/** Returns true if the server says that nothing is left to send (RFC 9110, 15.5.17). */
const isComplete = ({ status, headers }: OpenedReply, from: number): boolean =>
  status === 416 && headers['content-range'] === `bytes */${from}`;

const tooLong = (bytes: number): DownloadFailed =>
  new DownloadFailed(`The file is longer than the expected ${bytes} bytes. It was removed`, false);

const tooShort = (length: number, bytes: number): DownloadFailed =>
  new DownloadFailed(`The file has ${length} bytes, expected ${bytes}. It was removed`, false);

const finish = async (file: Download, hash: Hash): Promise<void> => {
  const found = hash.digest('hex');
  if (found === file.sha256) return rm(etagOf(file.to), { force: true });
  throw new DownloadFailed(
    `Checksum mismatch: ${found}, expected ${file.sha256}. The file was removed`,
    false,
  );
};

/** Returns the place from which the reply goes on: where we are, or the beginning. */
const beginOf = async (file: Download, reply: OpenedReply, from: number): Promise<number> => {
  const { status, headers } = reply;
  const place = status === 200 || status === 206 ? contentOffset(reply) : null;
  if (place === null || (place !== from && place !== 0)) {
    reply.body.cancel();
    const host = new URL(reply.url).hostname;
    throw busyServer(reply) ?? new DownloadFailed(`${host} returned ${status}`, false);
  }
  if (headers.etag) await writeFile(etagOf(file.to), headers.etag);
  return place;
};

const hashInto = async (hash: Hash, path: string, signal: AbortSignal): Promise<void> => {
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    hash.update(piece);
  }
};
