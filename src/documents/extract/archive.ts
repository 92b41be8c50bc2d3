import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { errorReason } from '../../kernel/failure.js';
import { normalForm } from '../../kernel/normalform.js';
import { ExtractFailed } from './job.js';

const MAX_ENTRIES = 20_000;
/**
 * Maximum compression ratio of a large file. Real markup stays below 100. DEFLATE reaches 1000 for
 * repeated data.
 */
const MAX_RATIO = 200;
const RATIO_FROM_BYTES = 8 * 1024 * 1024;

/** Only these files are read for text. Others, such as images, are ignored. */
const IS_TEXT = /\.(xml|rels|x?html?|opf|ncx|txt)$/i;

/** Signature of a compound file (MS-CFB 2.2): an encrypted or old office file. */
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex');

export const refuseEncrypted = (bytes: Buffer): void => {
  if (!bytes.subarray(0, 8).equals(COMPOUND)) return;
  throw new ExtractFailed(
    'password_needed',
    'The file is password-protected or in an old Office format',
  );
};

const walkArchive = (
  bytes: Buffer,
  visit: (entry: yauzl.Entry, open: () => Promise<Readable>) => Promise<void>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true, autoClose: false }, (error, archive) => {
      if (error || !archive) {
        return reject(new ExtractFailed('damaged', 'The file is damaged or incomplete'));
      }
      archive.on('error', reject);
      archive.on('end', resolve);
      archive.on('entry', (entry: yauzl.Entry) => {
        const open = () =>
          new Promise<Readable>((resolveOpen, rejectOpen) =>
            archive.openReadStream(entry, (failure, stream) =>
              failure || !stream ? rejectOpen(failure) : resolveOpen(stream),
            ),
          );
        visit(entry, open).then(() => archive.readEntry(), reject);
      });
      archive.readEntry();
    });
  });

/**
 * Throws ExtractFailed if the files are too many, too large, compressed too strongly, damaged, or
 * larger than declared.
 */
export const checkArchive = async (bytes: Buffer, mostBytes: number): Promise<void> => {
  let entries = 0;
  let unpacked = 0;
  await walkArchive(bytes, async ({ fileName, compressedSize, uncompressedSize }) => {
    entries++;
    unpacked += uncompressedSize;
    if (entries > MAX_ENTRIES) {
      throw new ExtractFailed('too_large', `The file contains more than ${MAX_ENTRIES} files`);
    }
    if (unpacked > mostBytes)
      throw new ExtractFailed('too_large', 'The unpacked file is too large');
    const isTight = uncompressedSize > MAX_RATIO * compressedSize;
    if (IS_TEXT.test(fileName) && uncompressedSize > RATIO_FROM_BYTES && isTight) {
      const times = Math.round(uncompressedSize / Math.max(1, compressedSize));
      throw new ExtractFailed(
        'too_large',
        `${fileName.slice(0, 100)} in the archive is compressed ${times}:1. The maximum is ${MAX_RATIO}:1`,
      );
    }
  });
  await walkArchive(bytes, async ({ fileName }, open) => {
    if (!IS_TEXT.test(fileName)) return;
    try {
      // yauzl enforces the declared size.
      for await (const _ of await open());
    } catch (error) {
      const name = fileName.slice(0, 100);
      throw new ExtractFailed(
        'damaged',
        `${name} in the archive cannot be unpacked: ${errorReason(error).slice(0, 200)}`,
      );
    }
  });
};

export type ArchiveFile = () => Promise<Readable>;

export type ArchiveFiles = ReadonlyMap<string, ArchiveFile>;

/** Programs differ in the case of names and the form of accents. */
export const fileIn = (files: ArchiveFiles, name: string): ArchiveFile | undefined =>
  files.get(normalizeEntryName(name));

const normalizeEntryName = (name: string): string => normalForm(name).toLowerCase();

/**
 * Returns a function that is true for the first use of each file. A small archive could otherwise
 * list a large file thousands of times.
 */
export const createFirstUse = (files: ArchiveFiles): ((path: string) => boolean) => {
  const used = new Set<ArchiveFile | string>();
  return (path) => {
    const before = used.size;
    return used.add(fileIn(files, path) ?? path).size > before;
  };
};

export const bytesIn = async (file: ArchiveFile): Promise<Buffer> => buffer(await file());

export const listArchive = async (bytes: Buffer): Promise<ArchiveFiles> => {
  const files = new Map<string, ArchiveFile>();
  await walkArchive(bytes, async ({ fileName }, open) => {
    files.set(normalizeEntryName(fileName), open);
  });
  return files;
};
