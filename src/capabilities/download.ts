import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EgressRefused } from '../kernel/egress.js';
import { errorCode, HttpFailure, NamedError } from '../kernel/failure.js';
import type { Http, OpenedReply } from '../kernel/http.js';

/** One file to fetch. */
export interface Download {
  url: string;
  /** The file in which it is put together; what is there already is kept and gone on from. */
  to: string;
  /** The bytes that it must have; null if that is not known before. */
  bytes: number | null;
  sha256: string;
}

export interface DownloadProgress {
  done: number;
  total: number | null;
  /** Bytes in a second, of the last few seconds. */
  rate: number;
}

/** The error of a download that cannot succeed; it says why. */
export class DownloadFailed extends NamedError {
  constructor(
    message: string,
    /** True if what is there may be gone on from. */
    readonly isResumable: boolean,
  ) {
    super(message);
  }
}

/** Ours: one connection may break so often in a row without a byte between. */
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Ours: while a file is written, the room is checked again each time after so many bytes. */
const CHECKED_EACH = 32 * 1024 * 1024;
/** Ours: what must stay free beside a file, for the database and its log. */
const RESERVED_BYTES = 512 * 1024 * 1024;
const LIMITS = {
  firstByteMs: 60_000,
  silenceMs: 60_000,
  totalMs: 2_000_000_000,
  maxBytes: Number.MAX_SAFE_INTEGER,
  redirects: 5,
};

/** Throws DownloadFailed if so many bytes do not fit beside what must stay free. */
export const checkRoom = async (folder: string, bytes: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize - RESERVED_BYTES;
  if (bytes <= free) return;
  const mebibytes = (count: number) => Math.max(0, Math.round(count / 2 ** 20));
  throw new DownloadFailed(
    `There is no room: it takes ${mebibytes(bytes)} MiB, and ${mebibytes(free)} MiB are free beside ${mebibytes(RESERVED_BYTES)} MiB that are kept for the database`,
    false,
  );
};

/** The checksum and the length that a server tells of a file before it is fetched. */
export interface ToldFile {
  sha256: string | null;
  bytes: number | null;
}

/**
 * Asks the server of a file for its checksum, as Hugging Face tells it of files in Git LFS
 * (`X-Linked-Etag`, `X-Linked-Size`).
 */
export const askFile = async (
  http: Pick<Http, 'request'>,
  url: string,
  signal: AbortSignal,
): Promise<ToldFile> => {
  const { headers } = await http
    .request({ method: 'HEAD', url, redirects: 0, signal })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof HttpFailure) throw new DownloadFailed(error.message, true);
      throw error instanceof EgressRefused ? new DownloadFailed(error.message, false) : error;
    });
  const etag = (headers['x-linked-etag'] ?? '').replaceAll('"', '').toLowerCase();
  const size = headers['x-linked-size'] ?? '';
  return {
    sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : null,
    bytes: /^\d{1,15}$/.test(size) ? Number(size) : null,
  };
};

/**
 * Fetches a file with its checksum. It goes on from what is there (RFC 9110, 14: Range, If-Range),
 * after a broken connection by itself. Throws DownloadFailed; a file that is not what it should be is
 * removed. Throws the reason of the signal, and keeps what is there.
 */
export const download = async (
  http: Pick<Http, 'open'>,
  file: Download,
  { signal, told }: { signal: AbortSignal; told(progress: DownloadProgress): void },
): Promise<void> => {
  const rate = createRate();
  for (let failures = 0; ; ) {
    const before = await sizeOf(file.to);
    try {
      return await attempt(http, file, { signal, told, rate });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HttpFailure)) throw await refused(file, error);
      const hasMoved = (await sizeOf(file.to)) > before;
      failures = hasMoved ? 1 : failures + 1;
      if (failures >= ATTEMPTS) throw new DownloadFailed(error.message, true);
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
      await wait(pause, undefined, { signal });
    }
  }
};

/** Removes what is not what it should be. Returns the error to throw. */
const refused = async (file: Download, error: unknown): Promise<unknown> => {
  if (error instanceof EgressRefused) return new DownloadFailed(error.message, false);
  if (errorCode(error) === 'ENOSPC') {
    await forget(file);
    return new DownloadFailed('The disk is full', false);
  }
  if (error instanceof DownloadFailed && !error.isResumable) await forget(file);
  return error;
};

const forget = async ({ to }: Download): Promise<void> => {
  await rm(to, { force: true });
  await rm(etagOf(to), { force: true });
};

interface DownloadAttempt {
  signal: AbortSignal;
  told(progress: DownloadProgress): void;
  rate: ReturnType<typeof createRate>;
}

const attempt = async (
  http: Pick<Http, 'open'>,
  file: Download,
  { signal, told, rate }: DownloadAttempt,
): Promise<void> => {
  const from = await sizeOf(file.to);
  const hash = createHash('sha256');
  if (from > 0) await hashInto(hash, file.to, signal);
  if (from > 0 && from === file.bytes) return finish(file, hash);
  const reply = await http.open({
    method: 'GET',
    url: file.url,
    headers: { 'accept-encoding': 'identity', ...(await rangeOf(file, from)) },
    ...LIMITS,
    signal,
  });
  if (isComplete(reply, from)) {
    reply.body.cancel();
    return finish(file, hash);
  }
  const begin = await beginOf(file, reply, from);
  const total = file.bytes ?? totalOf(reply, begin);
  const writing = begin === from ? hash : createHash('sha256');
  const done = await writeBody({ to: file.to, begin, total }, reply, (piece, written) => {
    writing.update(piece);
    told({ done: written, total, rate: rate(piece.length) });
  });
  if (total !== null && done < total) {
    const host = new URL(file.url).hostname;
    throw new HttpFailure('reset', { host, effectBegan: true });
  }
  await finish({ ...file, bytes: total }, writing);
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
  new DownloadFailed(
    `It is longer than the ${bytes} bytes that it should have; it was removed`,
    false,
  );

const finish = async (file: Download, hash: Hash): Promise<void> => {
  const found = hash.digest('hex');
  if (found === file.sha256) return rm(etagOf(file.to), { force: true });
  throw new DownloadFailed(
    `Its checksum is ${found} in place of ${file.sha256}; it was removed`,
    false,
  );
};

/** Returns the place from which the reply goes on: where we are, or the beginning. */
const beginOf = async (file: Download, reply: OpenedReply, from: number): Promise<number> => {
  const { status, headers } = reply;
  const [, begin] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? [];
  const isPart = status === 206 && Number(begin) === from;
  if (!isPart && status !== 200) {
    reply.body.cancel();
    if (status === 416) await forget(file);
    const host = new URL(reply.url).hostname;
    throw new DownloadFailed(`${host} answered ${status}`, status >= 500 || status === 429);
  }
  if (headers.etag) await writeFile(etagOf(file.to), headers.etag);
  return isPart ? from : 0;
};

const totalOf = ({ status, headers }: OpenedReply, begin: number): number | null => {
  const [, whole] = /\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  if (status === 206) return whole === undefined ? null : Number(whole);
  const length = headers['content-length'];
  return length === undefined ? null : begin + Number(length);
};

/** A strong validator, so that parts of two versions are never joined (RFC 9110, 13.1.5). */
const rangeOf = async ({ to }: Download, from: number): Promise<Record<string, string>> => {
  if (from === 0) return {};
  const etag = await sizeOf(etagOf(to)).then((size) => (size > 0 ? readEtag(to) : ''));
  return { range: `bytes=${from}-`, ...(etag.startsWith('"') && { 'if-range': etag }) };
};

const etagOf = (to: string): string => `${to}.etag`;

const readEtag = async (to: string): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(etagOf(to), { end: 1023 })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const hashInto = async (hash: Hash, path: string, signal: AbortSignal): Promise<void> => {
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    hash.update(piece);
  }
};

const RATE_MS = 5000;

/** Creates a function that takes bytes as they come, and returns their rate of the last seconds. */
const createRate = () => {
  const arrivals: { at: number; bytes: number }[] = [];
  return (bytes: number): number => {
    const now = performance.now();
    const last = arrivals.at(-1);
    // Joined, so that few are kept however small the pieces are.
    if (last && now - last.at < 100) last.bytes += bytes;
    else arrivals.push({ at: now, bytes });
    while ((arrivals[0]?.at ?? now) < now - RATE_MS) arrivals.shift();
    const since = Math.max(250, now - (arrivals[0]?.at ?? now));
    return Math.round((arrivals.reduce((sum, each) => sum + each.bytes, 0) * 1000) / since);
  };
};
