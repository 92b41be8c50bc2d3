import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { renameDurably, syncToDisk } from '../kernel/durable.js';
import { errorCode } from '../kernel/failure.js';
import { createFairQueue } from '../kernel/fairqueue.js';
import { makePrivateFolder } from '../kernel/private.js';
import { HEAD_BYTES } from './extract/kinds.js';

export interface ArrivedFile {
  path: string;
  bytes: number;
  sha256: string;
  /** First bytes, by which the file type is detected. */
  head: Buffer;
}

export type Originals = ReturnType<typeof createOriginals>;

const UNLIMITED = { atOnce: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Stores originals as `<home>/documents/<user>/<sha256>`. Arriving files are in `scratch`, which is
 * not part of backups.
 */
export const createOriginals = (home: string, scratch: string) => {
  const root = join(home, 'documents');
  const folderOf = (userId: string): string => join(root, userId);
  const pathOf = (userId: string, sha256: string): string => join(folderOf(userId), sha256);
  const turns = createFairQueue({ ...UNLIMITED, each: 1 });

  return {
    pathOf,

    /** The caller removes the folder. */
    openUpload: async (): Promise<string> => {
      makePrivateFolder(scratch);
      return mkdtemp(join(scratch, 'upload-'));
    },

    removeUpload: (folder: string): Promise<void> => rm(folder, { recursive: true, force: true }),

    /** Stores a file durably under the hash of its content. */
    keep: async (userId: string, { path, sha256 }: ArrivedFile): Promise<void> => {
      const isNew = await stat(folderOf(userId)).then(
        () => false,
        () => true,
      );
      makePrivateFolder(folderOf(userId));
      if (isNew) syncToDisk(root);
      await syncFile(path);
      renameDurably(path, pathOf(userId, sha256));
    },

    open: (userId: string, sha256: string): Readable => createReadStream(pathOf(userId, sha256)),

    /** null: missing, or not a regular file, whose open may never end. */
    sizeOf: (userId: string, sha256: string): Promise<number | null> =>
      stat(pathOf(userId, sha256)).then(
        (found) => (found.isFile() ? found.size : null),
        (error) => {
          if (errorCode(error) === 'ENOENT') return null;
          throw error;
        },
      ),

    remove: (userId: string, sha256: string): Promise<void> =>
      rm(pathOf(userId, sha256), { force: true }),

    removeFolder: (userId: string): Promise<void> =>
      rm(folderOf(userId), { recursive: true, force: true }),

    /** Both users have the files afterwards. */
    move: async (from: string, to: string): Promise<void> => {
      const names = await readdir(folderOf(from)).catch(() => []);
      if (names.length === 0) return;
      makePrivateFolder(folderOf(to));
      for (const name of names.filter((each) => SHA256.test(each))) {
        await link(pathOf(from, name), pathOf(to, name)).catch((error) => {
          if (errorCode(error) !== 'EEXIST') throw error;
        });
      }
      syncToDisk(folderOf(to));
      syncToDisk(root);
    },

    users: (): Promise<string[]> => readdir(root).catch(() => []),

    contents: async (userId: string): Promise<string[]> =>
      (await readdir(folderOf(userId)).catch(() => [])).filter((name) => SHA256.test(name)),

    /** Serializes changes to the rows and files of a user. */
    inTurn: <T>(userId: string, work: () => Promise<T>): Promise<T> => turns.take(userId, work),

    /** Removes leftovers of an interrupted start. */
    clear: (): Promise<void> => rm(scratch, { recursive: true, force: true }),
  };
};

/** Flushes a file to disk without blocking the event loop. */
const syncFile = async (path: string): Promise<void> => {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

export const receiveFile = async (path: string, content: Readable): Promise<ArrivedFile> => {
  const hash = createHash('sha256');
  const heads: Buffer[] = [];
  let bytes = 0;
  const watch = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      if (bytes < HEAD_BYTES) heads.push(chunk.subarray(0, HEAD_BYTES - bytes));
      bytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(content, watch, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  return { path, bytes, sha256: hash.digest('hex'), head: Buffer.concat(heads) };
};
