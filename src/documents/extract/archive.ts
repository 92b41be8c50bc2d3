import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { normalForm } from '../../kernel/normalform.js';
import { ExtractFailed } from './job.js';

const MAX_ENTRIES = 20_000;
/**
 * Ours: the most bytes that one packed byte may become in a file that is large unpacked. Markup of
 * real programs stays under a hundred; DEFLATE reaches a thousand where a file repeats itself.
 */
const MAX_RATIO = 200;
const RATIO_FROM_BYTES = 8 * 1024 * 1024;

/** The files of an archive that are read for their text. Others, such as pictures, are not looked at. */
const IS_TEXT = /\.(xml|rels|x?html?|opf|ncx|txt)$/i;

/** The beginning of a compound file (MS-CFB 2.2): an office file that is encrypted, or an old one. */
const COMPOUND = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** Throws ExtractFailed if an office file is encrypted, and is no archive therefore. */
export const refuseEncrypted = (bytes: Buffer): void => {
  if (!bytes.subarray(0, 8).equals(COMPOUND)) return;
  throw new ExtractFailed('password_needed', 'The file is password-protected');
};

/** Calls `visit` for each file of a ZIP archive, in its order. */
const walkArchive = (
  bytes: Buffer,
  visit: (entry: yauzl.Entry, open: () => Promise<Readable>) => Promise<void>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true, autoClose: false }, (error, archive) => {
      if (error || !archive) return reject(error);
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
 * Throws ExtractFailed if the files of the archive are too many or too large unpacked, if one is
 * packed as no real file is, or if one is damaged or larger than the archive says.
 */
export const checkArchive = async (bytes: Buffer, mostBytes: number): Promise<void> => {
  let entries = 0;
  let unpacked = 0;
  await walkArchive(bytes, async ({ fileName, compressedSize, uncompressedSize }) => {
    entries++;
    unpacked += uncompressedSize;
    if (entries > MAX_ENTRIES || unpacked > mostBytes) {
      throw new ExtractFailed('too_large', 'The unpacked file is too large');
    }
    const isTight = uncompressedSize > MAX_RATIO * compressedSize;
    if (IS_TEXT.test(fileName) && uncompressedSize > RATIO_FROM_BYTES && isTight) {
      const times = Math.round(uncompressedSize / Math.max(1, compressedSize));
      throw new ExtractFailed(
        'too_large',
        `A contained file is compressed too strongly (${times}:1)`,
      );
    }
  });
  await walkArchive(bytes, async ({ fileName }, open) => {
    if (!IS_TEXT.test(fileName)) return;
    try {
      // The size that the archive says is held by yauzl.
      for await (const _ of await open());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const name = fileName.slice(0, 100);
      throw new ExtractFailed('damaged', `${name} cannot be unpacked: ${reason.slice(0, 200)}`);
    }
  });
};

/** Opens a file of an archive. */
export type ArchiveFile = () => Promise<Readable>;

/** The files of an archive by their names in lower case. Find them by `fileIn`. */
export type ArchiveFiles = ReadonlyMap<string, ArchiveFile>;

/** Finds a file. Programs do not agree on the case of names and the form of their accents. */
export const fileIn = (files: ArchiveFiles, name: string): ArchiveFile | undefined =>
  files.get(keyOf(name));

const keyOf = (name: string): string => normalForm(name).toLowerCase();

/** Reads a file of an archive. */
export const bytesIn = async (file: ArchiveFile): Promise<Buffer> => buffer(await file());

/** Lists the files of a checked archive, which are read when they are opened. */
export const listArchive = async (bytes: Buffer): Promise<ArchiveFiles> => {
  const files = new Map<string, ArchiveFile>();
  await walkArchive(bytes, async ({ fileName }, open) => {
    files.set(keyOf(fileName), open);
  });
  return files;
};
