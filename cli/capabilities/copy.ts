import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Capability } from '../../src/client/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import type { Context } from '../command.js';
import { CliFault, failed } from '../exit.js';
import { sizeText } from '../operations/counts.js';
import { rateLine } from '../operations/follow.js';
import { now, oneLine, safe } from '../text.js';

const MANIFEST = 'capability.json';
/** A manifest lists at most a few thousand files. */
const MAX_BYTES = 4 * 1024 * 1024;
const PACE_MS = 200;
const KINDS: unknown[] = ['model', 'engine', 'language'];
const REMOVAL = { recursive: true, force: true } as const;

/** Whether a folder holds an exported or installed capability, that is, a valid manifest. */
const isExported = async (folder: string): Promise<boolean> => {
  try {
    const path = join(folder, MANIFEST);
    const stats = await lstat(path);
    if (!(await lstat(folder)).isDirectory() || !stats.isFile() || stats.size > MAX_BYTES)
      return false;
    const { id, kind, files } = JSON.parse(await readFile(path, 'utf8'));
    return typeof id === 'string' && KINDS.includes(kind) && Array.isArray(files);
  } catch {
    return false;
  }
};

/** Throws if the target name is taken by anything but an earlier export. */
export const assertTargetFree = async (to: string, slug: string): Promise<void> => {
  const target = join(to, slug);
  const found = await lstat(target).catch(() => null);
  if (found === null || (await isExported(target))) return;
  throw failed(
    `${oneLine(target)} already exists and is not an exported capability: the folder has no ` +
      `valid ${MANIFEST}.`,
    'Nothing was changed. Move the folder away, or choose another folder with --to.',
  );
};

/** Opens the target folder. Throws if it cannot be created, or is the folder of the daemon. */
export const openTarget = async (to: string, installed: (string | null)[]): Promise<void> => {
  try {
    await mkdir(to, { recursive: true });
    const own = await realpath(to);
    for (const path of installed) {
      const folder = path === null ? null : await realpath(dirname(path)).catch(() => null);
      if (folder === own)
        throw failed(
          `${oneLine(to)} is the capability folder of the daemon. Choose another folder.`,
        );
    }
  } catch (error) {
    throw asFault(error, `Cannot write to ${oneLine(to)}`);
  }
};

/**
 * Copies an installed capability in one step: a partial copy never gets the final name. Replaces
 * only an earlier export. ^C removes the partial copy.
 */
export const copyInstalled = async (
  context: Context,
  { id, path, bytes }: Capability,
  to: string,
): Promise<void> => {
  const found = path === null ? null : await lstat(path).catch(() => null);
  if (path === null || !found?.isDirectory()) {
    throw failed(
      `${safe(id)} has no files on this machine. Run this command on the machine of the ` +
        'daemon.',
    );
  }
  const slug = basename(path);
  const target = join(to, slug);
  await assertTargetFree(to, slug);
  const size = bytes === null ? '' : `, ${sizeText(bytes)}`;
  context.out.note(`Copying ${safe(id)}${size}`);
  let own: string | null = null;
  try {
    // A slug never begins with a dot.
    own = await mkdtemp(join(to, '.export-'));
    await copyFolder(context, path, join(own, slug));
    await assertTargetFree(to, slug);
    if (await isExported(target)) await rename(target, join(own, 'before'));
    await rename(join(own, slug), target);
  } catch (error) {
    context.signal.throwIfAborted();
    throw asFault(error, `Cannot copy ${safe(id)}`);
  } finally {
    if (own !== null) await rm(own, REMOVAL);
  }
};

const copyFolder = async (
  { signal, streams }: Context,
  from: string,
  to: string,
): Promise<void> => {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const files: { path: string; bytes: number; mode: number }[] = [];
  await mkdir(to);
  for (const entry of entries) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (entry.isDirectory()) {
      await mkdir(join(to, path), { recursive: true });
      continue;
    }
    const { size, mode } = await lstat(join(from, path));
    if (!entry.isFile())
      throw failed(
        `${oneLine(join(from, path))} is not a regular file. Remove the file from the folder.`,
      );
    files.push({ path, bytes: size, mode });
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const line = rateLine(streams.stderr, { at: now(), done: 0 }, '');
  let done = 0;
  const show = () =>
    line.show({ status: 'running', progress: { done, total, unit: 'bytes', note: null } });
  const stop = systemClock.every(PACE_MS, show);
  async function* counted(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      done += piece.length;
      yield piece;
    }
  }
  try {
    for (const { path, mode } of files) {
      await mkdir(dirname(join(to, path)), { recursive: true });
      const source = createReadStream(join(from, path));
      const output = createWriteStream(join(to, path), { flags: 'wx', mode });
      await pipeline(source, counted, output, { signal });
    }
  } finally {
    stop();
    line.clear();
  }
};

/** Converts an error of the file system into a fault. Returns other errors unchanged. */
const asFault = (error: unknown, what: string): unknown => {
  if (error instanceof CliFault || !(error instanceof Error && 'code' in error)) return error;
  const reason = REASONS[String(error.code)] ?? String(error.code);
  return failed(`${what}: ${reason}.`);
};

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'read-only file system',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'the path is not a folder',
};
