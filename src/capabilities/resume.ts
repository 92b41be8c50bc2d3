import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { OpenedReply } from '../kernel/http.js';

interface ResumedFile {
  to: string;
}

export const deletePartialFile = async ({ to }: ResumedFile): Promise<void> => {
  await rm(to, { force: true });
  await rm(getEtagPath(to), { force: true });
};

/**
 * Start of the body, by Content-Range. Some servers send a part with status 200; without the header
 * it is the whole file.
 */
export const contentOffset = ({ status, headers }: OpenedReply): number | null => {
  const [, begin] = /^bytes (\d+)-/.exec(headers['content-range'] ?? '') ?? [];
  if (begin !== undefined) return Number(begin);
  return status === 200 ? 0 : null;
};

/**
 * False if the partial file is unusable: the server sent another range, has nothing after it, or
 * has another version.
 */
export const canResume = async (
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

export const totalBytes = ({ headers }: OpenedReply, begin: number): number | null => {
  const range = headers['content-range'];
  const [, whole] = /\/(\d+)$/.exec(range ?? '') ?? [];
  if (range !== undefined) return whole === undefined ? null : Number(whole);
  const length = headers['content-length'];
  return length === undefined ? null : begin + Number(length);
};

/** Strong validator, so that parts of two versions are never joined (RFC 9110, 13.1.5). */
export const buildRangeHeaders = async (
  { to }: ResumedFile,
  from: number,
): Promise<Record<string, string>> => {
  if (from === 0) return {};
  const etag = await readEtag(to);
  return { range: `bytes=${from}-`, ...(etag.startsWith('"') && { 'if-range': etag }) };
};

export const getEtagPath = (to: string): string => `${to}.etag`;

const readEtag = async (to: string): Promise<string> => {
  if ((await bytesOnDisk(getEtagPath(to))) === 0) return '';
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(getEtagPath(to), { end: 1023 })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

export const bytesOnDisk = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
