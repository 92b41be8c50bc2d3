import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Joi from 'joi';
import { syncToDisk } from '../kernel/durable.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import { makePrivateFolder } from '../kernel/private.js';
import { SLUG, type UseCase } from './catalogue.js';

/** One file of what is installed. */
export interface InstalledFile {
  /** Relative to its folder, with slashes. */
  path: string;
  bytes: number;
  sha256: string;
}

/** The facts about something that is installed; they lie in its folder. */
export interface InstalledManifest {
  /** The id that was installed: `gguf:qwen3-4b:Q4_K_M`. */
  id: string;
  kind: 'model' | 'engine' | 'language';
  name: string;
  version: string | null;
  licence: string | null;
  /** The address, or the packages, that it came from. */
  source: string;
  useCases: UseCase[];
  installedAt: string;
  files: InstalledFile[];
}

/** Something that is installed. */
export interface InstalledCapability extends InstalledManifest {
  slug: string;
  /** The absolute path of its folder. */
  folder: string;
  bytes: number;
}

const MANIFEST = 'capability.json';
const PARTIAL = '.partial';
const WANTED = '.wanted.json';

/** Returns true for a path that stays below its folder, whatever the system. */
const isInside = (path: string): boolean =>
  !/[\\\p{Cc}]/u.test(path) &&
  path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');

/** Makes the schema of a manifest, when the first is read. */
const makeSchema = (): Joi.ObjectSchema<InstalledManifest> => {
  const file = Joi.object({
    path: Joi.string()
      .max(1000)
      .custom((path: string, { error }) => (isInside(path) ? path : error('any.invalid'))),
    bytes: Joi.number().integer().min(0),
    sha256: Joi.string().pattern(/^[0-9a-f]{64}$/),
  });
  return Joi.object<InstalledManifest>({
    id: Joi.string().max(200),
    kind: Joi.string().valid('model', 'engine', 'language'),
    name: Joi.string().max(200),
    version: Joi.string().max(200).allow(null),
    licence: Joi.string().max(200).allow(null),
    source: Joi.string().max(2000),
    useCases: Joi.array().items(Joi.string()).max(5),
    installedAt: Joi.string().max(40),
    files: Joi.array().items(file).max(100_000),
  }).prefs({ presence: 'required', convert: false });
};

let schema: Joi.ObjectSchema<InstalledManifest> | undefined;

/** Returns the manifest in a folder; null if there is none that is valid. */
export const readCapabilityManifest = async (folder: string): Promise<InstalledManifest | null> => {
  try {
    schema ??= makeSchema();
    const { value, error } = schema.validate(
      parsedJson(await readFile(join(folder, MANIFEST), 'utf8')),
    );
    return error ? null : value;
  } catch {
    return null;
  }
};

/** Opens the folder of what is installed: `<home>/capabilities/<slug>/`. */
export const openShelf = (home: string) => {
  const root = join(home, 'capabilities');
  const folderOf = (slug: string): string => join(root, checkedSlug(slug));
  const partialOf = (slug: string): string => join(root, PARTIAL, checkedSlug(slug));
  const find = async (slug: string): Promise<InstalledCapability | null> => {
    if (!SLUG.test(slug)) return null;
    const folder = folderOf(slug);
    const manifest = await readCapabilityManifest(folder);
    return manifest && { ...manifest, slug, folder, bytes: bytesOf(manifest.files) };
  };
  return {
    root,
    folderOf,
    find,
    list: async (): Promise<InstalledCapability[]> => {
      const names = await readdir(root).catch(() => []);
      const found = await Promise.all(names.sort().map(find));
      return found.filter((each) => each !== null);
    },
    /**
     * Makes the folder in which something is put together. What is there already is kept if it was
     * begun for the same: `wanted` is a text that says what.
     */
    beginFor: async (slug: string, wanted: string): Promise<string> => {
      const folder = partialOf(slug);
      const before = await readFile(join(folder, WANTED), 'utf8').catch(() => null);
      if (before !== wanted) await rm(folder, { recursive: true, force: true });
      makePrivateFolder(folder);
      await writeFile(join(folder, WANTED), wanted);
      return folder;
    },
    partial: partialOf,
    /** Lists what is, or was, put together. */
    begun: (): Promise<string[]> => readdir(join(root, PARTIAL)).catch(() => []),
    discard: (slug: string): Promise<void> => rm(partialOf(slug), { recursive: true, force: true }),
    /** Puts what is complete in its place, in one step. What was there before is gone then. */
    place: async (slug: string, manifest: InstalledManifest): Promise<void> => {
      const from = partialOf(slug);
      await rm(join(from, WANTED), { force: true });
      await writeFile(join(from, MANIFEST), JSON.stringify(manifest));
      syncToDisk(join(from, MANIFEST));
      syncToDisk(from);
      await rm(folderOf(slug), { recursive: true, force: true });
      await rename(from, folderOf(slug));
      syncToDisk(root);
    },
    /** Removes it. Its name goes first, so that a kill in between leaves nothing that looks whole. */
    remove: async (slug: string): Promise<void> => {
      makePrivateFolder(join(root, PARTIAL));
      await rm(partialOf(slug), { recursive: true, force: true });
      await rename(folderOf(slug), partialOf(slug));
      syncToDisk(root);
      await rm(partialOf(slug), { recursive: true, force: true });
    },
  };
};

/** Returns a slug that names a folder of its own. Throws TypeError for any other text. */
const checkedSlug = (slug: string): string => {
  if (SLUG.test(slug)) return slug;
  throw new TypeError(`No slug: ${JSON.stringify(slug.slice(0, 100))}`);
};

export type Shelf = ReturnType<typeof openShelf>;

const bytesOf = (files: InstalledFile[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the checksum of a file, in hexadecimal. Throws the reason of the signal. */
export const sha256OfFile = async (
  path: string,
  signal: AbortSignal,
  read: (bytes: number) => void = () => undefined,
): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    hash.update(piece);
    read(piece.length);
  }
  return hash.digest('hex');
};

/** Lists the files below a folder with their checksums, in order. Links are not followed. */
export const describeFiles = async (
  folder: string,
  signal: AbortSignal,
): Promise<InstalledFile[]> => {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const entries = all.filter(
    ({ name, parentPath }) => parentPath !== folder || ![MANIFEST, WANTED].includes(name),
  );
  const files: InstalledFile[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const { size } = await stat(path);
    const sha256 = await sha256OfFile(path, signal);
    files.push({ path: path.slice(folder.length + 1), bytes: size, sha256 });
  }
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
};
