import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../kernel/failure.js';
import { NotRegularFile } from '../kernel/regularfile.js';
import type { OperationKind } from '../operations/module.js';
import { DAMAGE_FILE, damageMessage } from '../providers/llm/llama/files.js';
import { type InstalledCapability, type InstalledModels, sha256OfFile } from './installedmodels.js';

export interface VerifyInput {
  slug: string;
}

const MAX_NAMED = 20;

interface VerifyDeps {
  shelf: InstalledModels;
  unload(slug: string): Promise<void>;
  renewed(slug: string): void;
}

/** A damaged model is not loaded until a check finds it undamaged. */
export const verifyOperation = ({
  shelf,
  unload,
  renewed,
}: VerifyDeps): OperationKind<VerifyInput, never> => ({
  kind: 'capabilities.verify',
  isResumable: true,
  isAdmins: true,
  most: 20,
  run: async ({ input: { slug }, signal, progress }) => {
    const found = await shelf.find(slug);
    if (!found) return { status: 'failed', error: `${slug} is no longer installed` };
    const damaged: string[] = [];
    let done = 0;
    for (const { path, bytes, sha256 } of found.files) {
      const before = done;
      const tell = () => progress({ done, total: found.bytes, unit: 'bytes', note: null });
      const fault = await findFileFault(
        { path: join(found.folder, path), sha256, signal },
        (more) => {
          // A file may be longer than expected.
          done = Math.min(before + bytes, done + more);
          tell();
        },
      );
      if (fault !== null) damaged.push(`${path} ${fault}`);
      done = before + bytes;
      tell();
    }
    if (!isSame(found, await shelf.find(slug))) {
      const error = `${slug} was deleted or reinstalled during the verification`;
      return { status: 'failed', error };
    }
    const note = join(found.folder, DAMAGE_FILE);
    if (damaged.length === 0) {
      const wasDamaged = (await findDamage(found)) !== null;
      await rm(note, { force: true });
      if (wasDamaged) renewed(slug);
      const sound = `${found.files.length === 1 ? '1 file is' : `${found.files.length} files are`} undamaged`;
      progress({ done, total: found.bytes, unit: 'bytes', note: sound });
      return { status: 'completed', result: { files: found.files.length, bytes: found.bytes } };
    }
    const named = damaged.slice(0, MAX_NAMED);
    await unload(slug);
    // On a full disk the file stays empty, which marks the damage too.
    await writeFile(note, named.join('\n')).catch((error: unknown) => {
      if (!isDiskFull(error)) throw error;
    });
    const verb = damaged.length === 1 ? 'is' : 'are';
    const count = `${damaged.length} of ${found.files.length} ${found.files.length === 1 ? 'file' : 'files'}`;
    const error = `${count} ${verb} damaged: ${named.join('; ')}`;
    return { status: 'failed', error: `${error}. ${damageMessage(slug)}` };
  },
});

const isSame = (read: InstalledCapability, now: InstalledCapability | null): boolean =>
  now !== null &&
  now.installedAt === read.installedAt &&
  now.files.length === read.files.length &&
  now.files.every(({ sha256 }, at) => sha256 === read.files[at]?.sha256);

interface CheckedFile {
  path: string;
  sha256: string;
  signal: AbortSignal;
}

const findFileFault = async (
  { path, sha256, signal }: CheckedFile,
  read: (bytes: number) => void,
): Promise<string | null> => {
  try {
    return (await sha256OfFile(path, signal, read)) === sha256 ? null : 'has a wrong checksum';
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof NotRegularFile ? error.message : 'cannot be read';
  }
};

export const isUndamaged = async (
  shelf: Pick<InstalledModels, 'find'>,
  slug: string,
): Promise<boolean> => {
  const found = await shelf.find(slug);
  return found !== null && (await findDamage(found)) === null;
};

/** Files checked for a list; a verification reads all. */
const MAX_CHECKED_FILES = 20;

/** Quick check of sizes; null if no damage is visible. */
export const findDamage = async ({
  slug,
  folder,
  files,
}: InstalledCapability): Promise<string | null> => {
  const isMarked = await stat(join(folder, DAMAGE_FILE)).then(
    () => true,
    () => false,
  );
  if (isMarked) return damageMessage(slug);
  for (const { path, bytes } of files.slice(0, MAX_CHECKED_FILES)) {
    const found = await stat(join(folder, path)).catch(() => null);
    if (found === null) return `${path} is missing. ${damageMessage(slug)}`;
    if (!found.isFile()) return `${path} is not a regular file. ${damageMessage(slug)}`;
    if (found.size !== bytes) return `${path} has a wrong size. ${damageMessage(slug)}`;
  }
  return null;
};
