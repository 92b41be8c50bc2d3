import { constants, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { usageFault } from './exit.js';

/** Places of the open files of this process, such as of a process substitution of the shell. */
const OWN_FILES = /^\/(?:dev\/stdin$|(?:dev|proc\/self)\/fd\/\d+$)/;

/** Reads a file of the command line. Throws a usage fault that names it. */
export const readLocalFile = async (path: string): Promise<Buffer> => {
  try {
    const found = await stat(path);
    refuseSpecialFile(path, found);
    return await (found.isFIFO() ? readPipe(path) : readFile(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw usageFault(`Cannot read ${path} (${error.code}).`);
  }
};

/** A read of a file whose writer is slow would keep the process from ending. */
const readPipe = (path: string): Promise<Buffer> => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return buffer(new Socket({ fd, writable: false }));
};

/** Reads the file of a flag before the command runs. */
export const readFlagFile = (flag: string, path: string): Buffer => {
  try {
    refuseSpecialFile(path, statSync(path));
    return readFileSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw usageFault(`Cannot read the file of ${flag}: ${path}`);
  }
};

/** Such files may have no end, or wait for a writer forever. */
export const refuseSpecialFile = (
  path: string,
  found: Stats | undefined = statSync(path, { throwIfNoEntry: false }),
): void => {
  if (!found || found.isFile() || found.isDirectory() || path === '/dev/null') return;
  if (found.isFIFO() && OWN_FILES.test(path)) return;
  const kind = found.isFIFO() ? 'named pipe' : found.isSocket() ? 'socket' : 'device';
  throw usageFault(`${path} is a ${kind}. Pass a file.`);
};
