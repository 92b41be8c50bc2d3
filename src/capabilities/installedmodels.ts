import { createHash, randomBytes } from 'node:crypto';
import { readdir, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import Joi from 'joi';
import { syncToDisk } from '../kernel/durable.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import { makePrivateFolder } from '../kernel/private.js';
import { hashRegularFile, readRegularFile } from '../kernel/regularfile.js';
import { lineSchema, SLUG, USE_CASES, type UseCase } from './catalogue.js';
import { findNpmEngine } from './packages.js';

export interface InstalledFile {
  /** Relative to its folder, with slashes. */
  path: string;
  bytes: number;
  sha256: string;
}

/** Manifest in the folder of a capability. */
export interface InstalledManifest {
  /** `gguf:qwen3-4b:Q4_K_M`. */
  id: string;
  kind: 'model' | 'engine' | 'language';
  name: string;
  version: string | null;
  licence: string | null;
  /** True if the licence has terms that a user must accept. */
  mustAccept?: boolean;
  licenceUrl?: string | null;
  /** URL or packages. */
  source: string;
  useCases: UseCase[];
  installedAt: string;
  files: InstalledFile[];
}

export interface InstalledCapability extends InstalledManifest {
  slug: string;
  folder: string;
  bytes: number;
}

const MANIFEST = 'capability.json';
const PARTIAL = '.partial';
const WANTED = '.wanted';

/** True for a path below its folder, on any system. */
const isInside = (path: string): boolean =>
  !/[\\\p{Cc}]/u.test(path) &&
  path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');

/** Larger than any model file; sums stay exact. */
const MAX_FILE_BYTES = 2 ** 43;

const makeSchema = (): Joi.ObjectSchema<InstalledManifest> => {
  const file = Joi.object({
    path: Joi.string()
      .max(1000)
      .custom((path: string, { error }) => (isInside(path) ? path : error('any.invalid'))),
    bytes: Joi.number().integer().min(0).max(MAX_FILE_BYTES),
    sha256: Joi.string().pattern(/^[0-9a-f]{64}$/),
  });
  return Joi.object<InstalledManifest>({
    id: lineSchema(),
    kind: Joi.string().valid('model', 'engine', 'language'),
    name: lineSchema(),
    version: lineSchema().allow(null),
    licence: lineSchema().allow(null),
    mustAccept: Joi.boolean().optional(),
    licenceUrl: lineSchema(2000).uri({ scheme: 'https' }).allow(null).optional(),
    source: lineSchema(2000),
    useCases: Joi.array()
      .items(Joi.string().valid(...USE_CASES))
      .max(5),
    installedAt: lineSchema(40),
    files: Joi.array().items(file).max(100_000),
  }).prefs({ presence: 'required', convert: false });
};

let schema: Joi.ObjectSchema<InstalledManifest> | undefined;

/** null if there is no valid manifest. */
export const readCapabilityManifest = async (folder: string): Promise<InstalledManifest | null> => {
  try {
    schema ??= makeSchema();
    const { value, error } = schema.validate(
      parsedJson(await readRegularFile(join(folder, MANIFEST), mostBytesIn(folder))),
    );
    return error ? null : value;
  } catch {
    return null;
  }
};

/** The manifest of the engine lists some thousand files. */
const MAX_BYTES = 64 * 1024;
const MAX_OF_ENGINE = 4 * 1024 * 1024;

const mostBytesIn = (folder: string): number =>
  findNpmEngine(basename(folder)) ? MAX_OF_ENGINE : MAX_BYTES;

/** `<home>/capabilities/<slug>/`. */
export const openInstalledModels = (home: string) => {
  const root = join(home, 'capabilities');
  const folderOf = (slug: string): string => join(root, checkedSlug(slug));
  const partialOf = (slug: string): string => join(root, PARTIAL, checkedSlug(slug));
  const find = async (slug: string): Promise<InstalledCapability | null> => {
    if (!SLUG.test(slug)) return null;
    const folder = folderOf(slug);
    const manifest = await readCapabilityManifest(folder);
    return manifest && { ...manifest, slug, folder, bytes: sumBytes(manifest.files) };
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
     * Keeps a partial installation that was started with the same `wanted`. Only its checksum is
     * stored, since URLs may contain keys.
     */
    beginFor: async (slug: string, wanted: string): Promise<string> => {
      const folder = partialOf(slug);
      const mark = createHash('sha256').update(wanted).digest('hex');
      const before = await readRegularFile(join(folder, WANTED), mark.length).catch(() => null);
      const isKept = before === mark && (await hasOnlyFiles(folder));
      if (!isKept) await rm(folder, REMOVAL);
      makePrivateFolder(folder);
      await writeFile(join(folder, WANTED), mark);
      return folder;
    },
    partial: partialOf,
    begun: (): Promise<string[]> => readdir(join(root, PARTIAL)).catch(() => []),
    discard: (slug: string): Promise<void> => forgotten(partialOf(slug)),
    /** Replaces the previous version in one step. */
    place: async (slug: string, manifest: InstalledManifest, from: string): Promise<void> => {
      await rm(join(from, WANTED), { force: true });
      await writeFile(join(from, MANIFEST), JSON.stringify(manifest));
      syncToDisk(join(from, MANIFEST));
      syncToDisk(from);
      await rm(folderOf(slug), { recursive: true, force: true });
      await rename(from, folderOf(slug));
      syncToDisk(root);
      await forgotten(partialOf(slug));
    },
    /** Renamed first, so that a kill leaves nothing that looks complete. */
    remove: async (slug: string): Promise<void> => {
      makePrivateFolder(join(root, PARTIAL));
      await rm(partialOf(slug), { recursive: true, force: true });
      await rename(folderOf(slug), partialOf(slug));
      syncToDisk(root);
      await forgotten(partialOf(slug));
    },
  };
};

/** Another process may still write there for a moment. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/** Another process may still use the previous one, which is deleted when possible. */
export const makeFreshFolder = async (within: string): Promise<string> => {
  const all = await readdir(within, { withFileTypes: true });
  for (const { name } of all.filter((each) => each.isDirectory())) {
    await rm(join(within, name), { recursive: true, force: true }).catch(() => undefined);
  }
  const folder = join(within, randomBytes(6).toString('hex'));
  makePrivateFolder(folder);
  return folder;
};

const forgotten = async (folder: string): Promise<void> => {
  await rm(folder, REMOVAL);
  await rmdir(dirname(folder)).catch(() => undefined);
};

/** False if anything would block or redirect a write: a pipe, a device or a link. */
const hasOnlyFiles = async (folder: string): Promise<boolean> => {
  const all = await readdir(folder, { withFileTypes: true });
  return all.every((each) => each.isFile() || each.isDirectory());
};

export const hasFetched = async (folder: string): Promise<boolean> => {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name !== WANTED && !name.endsWith('.etag'));
  const found = await Promise.all(files.map((name) => stat(join(folder, name))));
  return found.some(({ size }) => size > 0);
};

/** Throws TypeError for an invalid slug. */
const checkedSlug = (slug: string): string => {
  if (SLUG.test(slug)) return slug;
  throw new TypeError(`Invalid slug: ${JSON.stringify(slug.slice(0, 100))}`);
};

export type InstalledModels = ReturnType<typeof openInstalledModels>;

const sumBytes = (files: InstalledFile[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Hexadecimal. Follows links. Throws NotRegularFile, or the reason of the signal. */
export const sha256OfFile = async (
  path: string,
  signal: AbortSignal,
  read?: (bytes: number) => void,
): Promise<string> => {
  const hash = createHash('sha256');
  await hashRegularFile({ path: await realpath(path).catch(() => path), hash, signal }, read);
  return hash.digest('hex');
};

/** In order. Links are not followed. */
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
