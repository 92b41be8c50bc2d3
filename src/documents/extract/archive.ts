import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { ExtractFailed } from './job.js';

const MOST_ENTRIES = 20_000;

/** Calls `visit` for each file of a ZIP archive, in its order. Sizes that lie are errors of yauzl. */
const walkArchive = (
  bytes: Buffer,
  visit: (entry: yauzl.Entry, open: () => Promise<Readable>) => Promise<void>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true }, (error, archive) => {
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

/** Throws ExtractFailed if the files of the archive are too many, or too large unpacked. */
export const checkArchive = async (bytes: Buffer, mostBytes: number): Promise<void> => {
  let entries = 0;
  let unpacked = 0;
  await walkArchive(bytes, async ({ uncompressedSize }) => {
    entries++;
    unpacked += uncompressedSize;
    if (entries > MOST_ENTRIES || unpacked > mostBytes) {
      throw new ExtractFailed('too_large', 'The file is too large once it is unpacked');
    }
  });
};

/** Reads the files of a checked archive whose names are wanted. */
export const readArchive = async (
  bytes: Buffer,
  isWanted: (name: string) => boolean,
): Promise<Map<string, Buffer>> => {
  const files = new Map<string, Buffer>();
  await walkArchive(bytes, async ({ fileName }, open) => {
    if (isWanted(fileName)) files.set(fileName, await buffer(await open()));
  });
  return files;
};
