import { access, constants, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { FileToUpload } from '../../src/client/upload.js';
import { usageFault } from '../exit.js';
import { readLocalFile, refuseSpecialFile } from '../localfile.js';

interface LocalFile {
  path: string;
  bytes: number;
  /** The content of standard input. */
  content?: Buffer;
}

/** Limits of one request. */
const MAX_FILES = 20;
const MAX_BYTES = 16 * 1024 * 1024;

interface LocalFiles {
  files: LocalFile[];
  hidden: number;
  /** Files and folders in the folder that cannot be read. */
  unreadable: string[];
}

/** Lists the file, or all files of the folder except hidden ones, which are counted. */
export const findLocalFiles = async (path: string): Promise<LocalFiles> => {
  const found = await stat(path).catch(() => null);
  if (!found) throw usageFault(`${path} does not exist or cannot be read. Check the path.`);
  refuseSpecialFile(path, found);
  const all: LocalFiles = { files: [], hidden: 0, unreadable: [] };
  if (!found.isDirectory()) return { ...all, files: [{ path, bytes: found.size }] };
  await addFolder(path, all, false);
  const [first] = all.unreadable;
  if (all.files.length === 0 && first !== undefined) throw usageFault(`${first} ${UNREADABLE}.`);
  if (all.files.length === 0) throw usageFault(`${path} contains no files. Choose another folder.`);
  all.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return all;
};

/** Node cannot open a file whose name is not valid UTF-8. Completes a sentence. */
export const UNREADABLE =
  'cannot be read. If its name is not valid UTF-8, rename it. Otherwise check its permissions';

const addFolder = async (folder: string, all: LocalFiles, isInHidden: boolean): Promise<void> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
  if (!entries) return void all.unreadable.push(folder);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isHidden = isInHidden || entry.name.startsWith('.');
    if (entry.isDirectory()) await addFolder(path, all, isHidden);
    else if (!entry.isFile()) continue;
    else if (isHidden) all.hidden++;
    else await addFile(path, all);
  }
};

const addFile = async (path: string, { files, unreadable }: LocalFiles): Promise<void> => {
  try {
    await access(path, constants.R_OK);
    files.push({ path, bytes: (await stat(path)).size });
  } catch {
    unreadable.push(path);
  }
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
      content: content ?? (await readLocalFile(path)),
    })),
  );
