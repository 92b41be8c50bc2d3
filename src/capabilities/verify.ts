import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../kernel/failure.js';
import type { OperationKind } from '../operations/module.js';
import { type InstalledCapability, type Shelf, sha256OfFile } from './shelf.js';

export interface VerifyInput {
  slug: string;
}

/** A file in the folder of what is damaged, by the last check. */
const DAMAGED = 'damaged.txt';
/** Ours: so many damaged files are named. */
const MOST_NAMED = 20;

/** The kind of operation that compares the files of what is installed with their checksums. */
export const verifyOperation = ({
  shelf,
}: {
  shelf: Shelf;
}): OperationKind<VerifyInput, never> => ({
  kind: 'capabilities.verify',
  isResumable: true,
  isAdmins: true,
  most: 20,
  run: async ({ input: { slug }, signal, progress }) => {
    const found = await shelf.find(slug);
    if (!found) return { status: 'failed', error: `${slug} is not installed any more` };
    const damaged: string[] = [];
    let done = 0;
    for (const { path, bytes, sha256 } of found.files) {
      const fault = await faultOf(join(found.folder, path), sha256, signal);
      if (fault !== null) damaged.push(`${path} ${fault}`);
      done += bytes;
      progress({ done, total: found.bytes, unit: 'bytes', note: null });
    }
    const note = join(found.folder, DAMAGED);
    if (damaged.length === 0) {
      await rm(note, { force: true });
      const sound = `${found.files.length === 1 ? '1 file is' : `${found.files.length} files are`} undamaged`;
      progress({ done, total: found.bytes, unit: 'bytes', note: sound });
      return { status: 'completed', result: { files: found.files.length, bytes: found.bytes } };
    }
    const named = damaged.slice(0, MOST_NAMED);
    await writeFile(note, named.join('\n'));
    const error = `${damaged.length} of ${found.files.length} files are damaged: ${named.join('; ')}`;
    return { status: 'failed', error: `${error}. Remove it and install it again` };
  },
});

const faultOf = async (
  path: string,
  sha256: string,
  signal: AbortSignal,
): Promise<string | null> => {
  try {
    return (await sha256OfFile(path, signal)) === sha256 ? null : 'has another checksum';
  } catch (error) {
    signal.throwIfAborted();
    return errorCode(error) === 'ENOENT' ? 'is missing' : 'cannot be read';
  }
};

/** Ours: so many files are looked at in a list; a check reads all of them. */
const LOOKED_AT = 20;

/** Returns why something that is installed does not work as it should, at a glance; null if it may. */
export const damageOf = async ({ folder, files }: InstalledCapability): Promise<string | null> => {
  const isMarked = await stat(join(folder, DAMAGED)).then(
    () => true,
    () => false,
  );
  if (isMarked) return 'Its files were found damaged: remove it and install it again';
  for (const { path, bytes } of files.slice(0, LOOKED_AT)) {
    const size = await stat(join(folder, path)).then(
      (found) => found.size,
      () => null,
    );
    if (size === null) return `${path} is missing: remove it and install it again`;
    if (size !== bytes) return `${path} has another size: remove it and install it again`;
  }
  return null;
};
