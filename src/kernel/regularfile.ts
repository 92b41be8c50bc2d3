import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, createWriteStream, fstatSync, openSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { errorCode, NamedError } from './failure.js';

/** The message omits the path. */
export class NotRegularFile extends NamedError {}

/** The open of a pipe would block a thread until somebody opens the other end. */
const NEVER_BLOCKS = constants.O_RDONLY | constants.O_NONBLOCK;
const READ_ONLY = NEVER_BLOCKS | constants.O_NOFOLLOW;

/** Throws NotRegularFile for a link, pipe, device or folder. The caller closes it. */
const openRegularFile = async (path: string): Promise<FileHandle> => {
  let handle: FileHandle | undefined;
  try {
    if (!(await lstat(path)).isFile()) throw new NotRegularFile('is not a regular file');
    handle = await open(path, READ_ONLY);
    if ((await handle.stat()).isFile()) return handle;
    throw new NotRegularFile('is not a regular file');
  } catch (error) {
    await handle?.close();
    if (error instanceof NotRegularFile) throw error;
    throw new NotRegularFile(errorCode(error) === 'ENOENT' ? 'is missing' : 'cannot be read');
  }
};

/** Follows links. Throws NotRegularFile, or the error of the file system. */
export const openRegularFileSync = (path: string): number => {
  const file = openSync(path, NEVER_BLOCKS);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new NotRegularFile('is not a regular file');
};

export const readRegularFile = async (path: string, mostBytes: number): Promise<string> => {
  const handle = await openRegularFile(path);
  try {
    const { size } = await handle.stat();
    if (size > mostBytes) throw new NotRegularFile(`is larger than ${mostBytes} bytes`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
};

export const regularFileSize = async (path: string): Promise<number> => {
  const handle = await openRegularFile(path);
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
};

interface HashedFile {
  path: string;
  hash: Hash;
  signal: AbortSignal;
}

/** Adds the content to the hash. Throws NotRegularFile, or the reason of the signal. */
export const hashRegularFile = async (
  { path, hash, signal }: HashedFile,
  read: (bytes: number) => void = () => undefined,
): Promise<void> => {
  const handle = await openRegularFile(path);
  try {
    for await (const piece of handle.createReadStream({ highWaterMark: PIECE, signal })) {
      hash.update(piece);
      read(piece.length);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await handle.close().catch(() => undefined);
  }
};

interface RegularFileCopy {
  from: string;
  to: string;
  /** Maximum number of bytes copied. */
  bytes: number;
}

/**
 * Returns the checksum of the data read. Throws NotRegularFile, the error of the disk, or the reason
 * of the signal.
 */
export const copyRegularFile = async (
  { from, to, bytes }: RegularFileCopy,
  signal: AbortSignal,
  copied: (bytes: number) => void,
): Promise<string> => {
  const handle = await openRegularFile(from);
  const hash = createHash('sha256');
  try {
    const source = handle.createReadStream({
      highWaterMark: PIECE,
      autoClose: false,
      ...upTo(bytes),
    });
    await pipeline(
      source,
      async function* (pieces) {
        for await (const piece of pieces) {
          hash.update(piece);
          yield piece;
          copied(piece.length);
        }
      },
      createWriteStream(to, { flush: true }),
      { signal },
    );
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await handle.close().catch(() => undefined);
  }
  return hash.digest('hex');
};

const PIECE = 1 << 20;

/** An empty file has no last byte. */
const upTo = (bytes: number) => (bytes === 0 ? {} : { end: bytes - 1 });
