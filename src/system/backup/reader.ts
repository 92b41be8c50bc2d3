import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { NotRegularFile, openRegularFileSync } from '../../kernel/regularfile.js';
import { type FoundEntry, readTar, TarError } from '../../kernel/tar.js';
import { DATABASE } from '../../store/engine/protocol.js';
import { isExcludedName } from './home.js';
import { type BackupKeys, openBackupKeys } from './keys.js';
import {
  BadBackup,
  KEYS,
  MANIFEST,
  type Manifest,
  readManifest,
  SUM,
  sha256,
  verifyManifestMac,
} from './manifest.js';
import type { ProgressWatch } from './progress.js';

const CHUNK = 1024 * 1024;
/** Largest entry that is read into memory as a whole, in bytes. */
const MAX_ENTRY_BYTES = 256 * 1024 * 1024;
const OWN = [DATABASE, 'audit.head', KEYS, MANIFEST, SUM];

export interface Backup {
  manifest: Manifest;
  manifestSha256: string;
  keys: BackupKeys;
  entries: FoundEntry[];
  /** Reads the entry again. Throws BadBackup if it has changed. */
  read(entry: FoundEntry): Generator<Buffer, void, undefined>;
}

export interface ReadOptions {
  file: string;
  passphrase: string;
  /** Schemas that this version supports, in order. */
  schemas: number[];
}

/** The whole backup is checked before `work` may use it. Throws BadBackup or PassphraseError. */
export const withBackup = async <T>(
  { file, passphrase, schemas }: ReadOptions,
  watch: ProgressWatch,
  work: (backup: Backup) => Promise<T>,
): Promise<T> => {
  const handle = openBackup(file);
  try {
    const { size } = fstatSync(handle);
    const entries = readTarEntries(handle, size);
    const whole = (name: string): Buffer => readWholeEntry(handle, entries, name);
    const [manifestBytes, sum] = [whole(MANIFEST), whole(SUM)];
    const manifest = readManifest(manifestBytes, sum);
    refuseForeign(manifest, schemas);
    const digests = listExpectedDigests(manifest, entries);
    const read = (entry: FoundEntry) => proven(handle, entry, digests.get(entry.name));
    for (const entry of entries.filter(({ name }) => digests.has(name))) {
      let done = entry.offset;
      for (const chunk of read(entry)) {
        done += chunk.length;
        watch.step('digests', done, size);
      }
    }
    const keys = await openBackupKeys(passphrase, whole(KEYS));
    verifyManifestMac(manifestBytes, sum, keys.macKey);
    return await work({
      manifest,
      manifestSha256: sha256(manifestBytes),
      keys,
      entries: entries.filter(({ name }) => ![KEYS, MANIFEST, SUM].includes(name)),
      read,
    });
  } finally {
    closeSync(handle);
  }
};

const openBackup = (file: string): number => {
  try {
    return openRegularFileSync(file);
  } catch (error) {
    if (!(error instanceof NotRegularFile)) throw error;
    throw new BadBackup(`The file is not a valid backup: it ${error.message}`);
  }
};

const readTarEntries = (handle: number, size: number): FoundEntry[] => {
  try {
    return [...readTar(handle, size)];
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    throw new BadBackup(`The file is not a valid backup: ${error.message}`);
  }
};

const readWholeEntry = (handle: number, entries: FoundEntry[], name: string): Buffer => {
  const entry = entries.find((each) => each.name === name);
  if (!entry) throw new BadBackup(`The file is not a valid backup: ${name} is missing`);
  if (entry.size > MAX_ENTRY_BYTES) throw new BadBackup(`${name} is too large`);
  return Buffer.concat([...chunksOf(handle, entry)]);
};

const refuseForeign = ({ schema, version }: Manifest, schemas: number[]): void => {
  if (schemas.includes(schema)) return;
  const newest = schemas.at(-1) ?? 0;
  throw new BadBackup(
    `The backup was created by Adjutant ${version} with schema ${schema}, which this version does not ` +
      `support. Its newest schema is ${newest}`,
    'Update Adjutant',
  );
};

/** Throws BadBackup unless the archive contains exactly the files of the manifest. */
const listExpectedDigests = ({ files }: Manifest, entries: FoundEntry[]): Map<string, string> => {
  const listed = new Map(files.map((file) => [file.path, file]));
  const inside = entries.filter(({ name }) => name !== MANIFEST && name !== SUM);
  for (const { name, size } of inside) {
    if (isExcludedName(name) && !OWN.includes(name))
      throw new BadBackup(`${name} is not allowed in a backup`);
    if (listed.get(name)?.size !== size)
      throw new BadBackup(
        `The backup is damaged: ${name} is not in the manifest or has another size there`,
      );
  }
  const twice = findRepeated(files.map(({ path }) => path));
  if (twice !== undefined)
    throw new BadBackup(`The file is not a valid backup: the manifest lists ${twice} twice`);
  const found = new Set(inside.map(({ name }) => name));
  const missing = [DATABASE, ...listed.keys()].find((path) => !found.has(path));
  if (missing !== undefined)
    throw new BadBackup(`The file is not a valid backup: ${missing} is missing`);
  return new Map(files.map(({ path, sha256 }) => [path, sha256]));
};

const findRepeated = (names: string[]): string | undefined => {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
};

/** Throws BadBackup after the last chunk if the digest does not match. */
function* proven(
  handle: number,
  entry: FoundEntry,
  digest: string | undefined,
): Generator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(handle, entry)) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== digest) throw new BadBackup(`${entry.name} is damaged`);
}

function* chunksOf(
  handle: number,
  { offset, size }: FoundEntry,
): Generator<Buffer, void, undefined> {
  for (let at = 0; at < size; ) {
    const chunk = Buffer.alloc(Math.min(CHUNK, size - at));
    const read = readSync(handle, chunk, 0, chunk.length, offset + at);
    if (read === 0)
      throw new BadBackup(
        'The backup file became shorter while it was read',
        'Try again when no other program writes the file',
      );
    yield chunk.subarray(0, read);
    at += read;
  }
}
