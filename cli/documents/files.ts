import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { FileToUpload } from '../../src/client/upload.js';
import { usageFault } from '../exit.js';

interface LocalFile {
  path: string;
  bytes: number;
  /** The content of standard input. */
  content?: Buffer;
}

/** Limits of one request. */
const MAX_FILES = 20;
const MAX_BYTES = 16 * 1024 * 1024;

/** Lists the file, or all files of the folder except hidden ones, which are counted. */
export const findLocalFiles = async (
  path: string,
): Promise<{ files: LocalFile[]; hidden: number }> => {
  const found = await stat(path).catch(() => null);
  if (!found) throw usageFault(`${path} does not exist or cannot be read. Check the path.`);
  if (!found.isDirectory()) return { files: [{ path, bytes: found.size }], hidden: 0 };
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  const files: LocalFile[] = [];
  let hidden = 0;
  for (const entry of entries) {
    const at = join(entry.parentPath, entry.name);
    const isHidden = relative(path, at)
      .split('/')
      .some((part) => part.startsWith('.'));
    if (!entry.isFile()) continue;
    if (isHidden) hidden++;
    else files.push({ path: at, bytes: await sizeOnDisk(at) });
  }
  if (files.length === 0) throw usageFault(`${path} contains no files. Choose another folder.`);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, hidden };
};

/** Node cannot open a file whose name is not valid UTF-8. */
const sizeOnDisk = async (path: string): Promise<number> => {
  const found = await stat(path).catch(() => null);
  if (found) return found.size;
  throw usageFault(`${path} cannot be read. If its name is not valid UTF-8, rename the file.`);
};

export const readPipedFile = async (
  stdin: NodeJS.ReadableStream,
  path: string,
): Promise<LocalFile> => {
  const content = await buffer(stdin);
  return { path, bytes: content.length, content };
};

/** Groups files into requests of limited size, in order. */
export const batchFiles = (files: LocalFile[]): LocalFile[][] => {
  const batches: LocalFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = batches.at(-1);
    if (!last || last.length >= MAX_FILES || bytes + file.bytes > MAX_BYTES) {
      batches.push([file]);
      bytes = file.bytes;
    } else {
      last.push(file);
      bytes += file.bytes;
    }
  }
  return batches;
};

export const readFiles = (files: LocalFile[]): Promise<FileToUpload[]> =>
  Promise.all(
    files.map(async ({ path, content }) => ({
      filename: basename(path),
      content: content ?? (await readFile(path)),
    })),
  );
