import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { OpenedReply } from '../kernel/http.js';

/** A file that is put together from what is there and what its server sends. */
interface ResumedFile {
  to: string;
}

/** Removes what is there of a file. */
export const forget = async ({ to }: ResumedFile): Promise<void> => {
  await rm(to, { force: true });
  await rm(etagOf(to), { force: true });
};

/**
 * Returns the place at which the body of a reply begins, which Content-Range names. Some servers send
 * a part under 200; without that header it is the whole file.
 */
export const contentOffset = ({ status, headers }: OpenedReply): number | null => {
  const [, begin] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? [];
  if (begin !== undefined) return Number(begin);
  return status === 200 ? 0 : null;
};

/**
 * Returns false if what is there is of no use: the server sends another part than it was asked for,
 * has nothing from there on, or a part of another version, though it was asked for the whole then.
 */
export const goesOn = async (
  file: ResumedFile,
  reply: OpenedReply,
  from: number,
): Promise<boolean> => {
  const { status, headers } = reply;
  if (status === 416) return false;
  if (status !== 200 && status !== 206) return true;
  const place = contentOffset(reply);
  if (place === 0) return true;
  const etag = await readEtag(file.to);
  return place === from && (etag === '' || !headers.etag || headers.etag === etag);
};

/** Returns the length of the whole file, as a reply tells it; null if it does not. */
export const totalBytes = ({ headers }: OpenedReply, begin: number): number | null => {
  const range = headers['content-range'];
  const [, whole] = /\/(\d+)$/.exec(range ?? '') ?? [];
  if (range !== undefined) return whole === undefined ? null : Number(whole);
  const length = headers['content-length'];
  return length === undefined ? null : begin + Number(length);
};

/** A strong validator, so that parts of two versions are never joined (RFC 9110, 13.1.5). */
export const rangeOf = async (
  { to }: ResumedFile,
  from: number,
): Promise<Record<string, string>> => {
  if (from === 0) return {};
  const etag = await readEtag(to);
  return { range: `bytes=${from}-`, ...(etag.startsWith('"') && { 'if-range': etag }) };
};

/** The file that keeps the validator of what is there. */
export const etagOf = (to: string): string => `${to}.etag`;

/** Returns the kept validator; '' if there is none. */
const readEtag = async (to: string): Promise<string> => {
  if ((await bytesOnDisk(etagOf(to))) === 0) return '';
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(etagOf(to), { end: 1023 })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

/** Returns the bytes of a file; 0 if it is not there. */
export const bytesOnDisk = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
