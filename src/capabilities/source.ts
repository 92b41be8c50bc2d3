import { lstat, mkdir, opendir, readdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { errorCode, isDiskFull } from '../kernel/failure.js';
import { copyRegularFile, NotRegularFile, regularFileSize } from '../kernel/regularfile.js';
import { createSerial } from '../kernel/serial.js';
import { type CatalogueModel, isReserved, SLUG } from './catalogue.js';
import { checkDiskSpace } from './diskspace.js';
import { DownloadFailed } from './downloadfailed.js';
import type { ProgressReporter } from './fetch.js';
import {
  type InstalledFile,
  type InstalledManifest,
  readCapabilityManifest,
} from './installedmodels.js';
import type { InstallPlan } from './installplan.js';
import { findNpmEngine } from './packages.js';
import { buildInstallId, buildModelSlug, languageSlug, MODEL_FILE } from './plan.js';
import { readWithTimeout } from './readtimeout.js';

export interface SourceCapability extends InstalledManifest {
  slug: string;
  bytes: number;
  /** Id where it was exported. */
  exportedId: string;
}

export interface SourceFolder {
  path: string;
  fault: string | null;
  held: SourceCapability[];
}

/** The id follows from the folder name; the id in the manifest is not trusted. */
export const readSource = (path: string, models: CatalogueModel[]): Promise<SourceFolder> =>
  readWithTimeout(path, () => listSource(path, models), { path, fault: NO_RESPONSE, held: [] });

const NO_RESPONSE = 'It does not respond';

const listSource = async (path: string, models: CatalogueModel[]): Promise<SourceFolder> => {
  let names: string[];
  try {
    names = await readdir(path);
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    return { path, fault: isMissing ? 'It does not exist' : 'It cannot be read', held: [] };
  }
  const slugs = names.filter((name) => SLUG.test(name)).sort();
  const held: SourceCapability[] = [];
  // Sequential, so that not all file system threads are occupied.
  for (const slug of slugs.slice(0, MAX_HELD)) {
    const manifest = await readExportedManifest(join(path, slug));
    const id = manifest && findCapabilityId(slug, manifest, models);
    if (!id) continue;
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    held.push({ ...manifest, id, slug, bytes, exportedId: manifest.id });
  }
  return { path, fault: null, held };
};

const MAX_HELD = 1000;

/** null for a link, which may lead out of the folder. */
const readExportedManifest = async (folder: string): Promise<InstalledManifest | null> =>
  (await isFolder(folder)) ? readCapabilityManifest(folder) : null;

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const findCapabilityId = (
  slug: string,
  { kind, id, files }: InstalledManifest,
  models: CatalogueModel[],
): string | null => {
  if (kind === 'engine') return findNpmEngine(slug)?.slug ?? null;
  if (kind === 'language') {
    const language = id.replace(/^tesseract:/, '');
    return languageSlug(language) === slug ? `tesseract:${language}` : null;
  }
  for (const model of models) {
    const file = model.files.find((each) => buildModelSlug(model, each) === slug);
    if (file) return buildInstallId(model.kind === 'speech' ? 'whisper' : 'gguf', model, file);
  }
  const isModel = !isReserved(slug) && files.some(({ path }) => MODEL_FILE.test(path));
  return isModel ? `gguf:${slug}` : null;
};

interface CopiedPlan {
  /** Folder made by `adjutant capabilities export`. */
  source: string;
  plan: Extract<InstallPlan, { via: 'download' }>;
  folder: string;
}

/** Verifies each file by the checksum of the plan, else of the manifest. Throws DownloadFailed. */
export const copyFromSource = async (
  { source, plan, folder }: CopiedPlan,
  telling: ProgressReporter,
): Promise<InstalledFile[]> => {
  const from = join(source, plan.slug);
  const { files } = await readExported(source, plan.slug);
  const wanted = plan.files.map(({ path, sha256 }) => {
    const found = files.find((each) => each.path === path);
    if (!found)
      throw new DownloadFailed(
        `The file ${path} is missing from the folder ${from}. Export the capability again`,
        false,
      );
    return { path, bytes: found.bytes, sha256: sha256 ?? found.sha256 };
  });
  await inTurn(source, telling, async () => {
    for (const file of wanted) await checkSize(from, file);
    await copyFiles({ from, to: folder, files: wanted }, telling);
  });
  return wanted;
};

const checkSize = async (from: string, { path, bytes }: InstalledFile): Promise<void> => {
  const size = await regularFileSize(join(from, path)).catch((error: unknown) =>
    Promise.reject(copyFailure(path, error)),
  );
  if (size === bytes) return;
  throw new DownloadFailed(
    `The file ${path} has ${size} bytes, expected ${bytes}. Export the capability again`,
    false,
  );
};

interface CopiedFile {
  path: string;
  bytes: number;
  /** null: not compared. */
  sha256: string | null;
}

const copyFiles = async (
  { from, to, files }: { from: string; to: string; files: CopiedFile[] },
  telling: ProgressReporter,
): Promise<void> => {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  await checkDiskSpace(to, total);
  let done = 0;
  for (const { path, bytes, sha256 } of files) {
    telling.signal.throwIfAborted();
    const copy = { from: join(from, path), to: join(to, path), bytes };
    const found = await copyRegularFile(copy, telling.signal, (more) => {
      done += more;
      telling.bytes(done, total, 'copied');
    }).catch((error: unknown) => {
      telling.signal.throwIfAborted();
      throw copyFailure(path, error);
    });
    if (sha256 === null || found === sha256) continue;
    throw new DownloadFailed(
      `Checksum mismatch: ${copy.from} does not have the SHA-256 ${sha256}. Export the capability again`,
      false,
    );
  }
};

/** Omits system calls and paths. */
const copyFailure = (path: string, error: unknown): DownloadFailed => {
  if (isDiskFull(error)) return new DownloadFailed('The disk is full', false);
  const reason = error instanceof NotRegularFile ? error.message : 'cannot be copied';
  return new DownloadFailed(`${path} ${reason}`, false);
};

/** Checks the disk space first. Throws DownloadFailed. */
export const copyTree = (from: string, to: string, telling: ProgressReporter): Promise<void> =>
  inTurn(dirname(dirname(from)), telling, () => copyAll(from, to, telling));

const copyAll = async (from: string, to: string, telling: ProgressReporter): Promise<void> => {
  const entries = (await isFolder(from)) ? await opendir(from, { recursive: true }) : [];
  const files: CopiedFile[] = [];
  await mkdir(to, { recursive: true });
  for await (const entry of entries) {
    telling.signal.throwIfAborted();
    const path = relative(from, join(entry.parentPath, entry.name));
    if (entry.isDirectory()) {
      await mkdir(join(to, path), { recursive: true });
      continue;
    }
    const bytes = await regularFileSize(join(from, path)).catch((error: unknown) =>
      Promise.reject(copyFailure(path, error)),
    );
    files.push({ path, bytes, sha256: null });
  }
  if (files.length === 0)
    throw new DownloadFailed(
      `The folder ${from} contains no files. Export the capability again`,
      false,
    );
  await copyFiles({ from, to, files }, telling);
};

export const readExported = async (source: string, slug: string): Promise<InstalledManifest> => {
  const manifest = await readWithTimeout(
    source,
    () => readExportedManifest(join(source, slug)),
    undefined,
  );
  if (manifest) return manifest;
  if (manifest === undefined)
    throw new DownloadFailed(
      `The folder ${source} does not respond. Check whether the file system is mounted`,
      false,
    );
  const isThere = await readWithTimeout(
    source,
    () => stat(source).then(Boolean, () => false),
    true,
  );
  throw new DownloadFailed(
    isThere
      ? `${source} has no ${slug}. Export it on a machine with internet access: adjutant capabilities export ${slug} --to <folder>`
      : `${source} does not exist`,
    false,
  );
};

const copies = createSerial();

/** One copy per folder at a time: a hanging copy blocks one of the few file system threads. */
const inTurn = (
  source: string,
  { signal }: ProgressReporter,
  copy: () => Promise<void>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const give = (): void => reject(signal.reason);
    signal.addEventListener('abort', give, { once: true });
    copies(source, () => (signal.aborted ? Promise.resolve() : copy()))
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', give));
  });
