import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from './private.js';

/** The way in which the daemon keeps what V8 has compiled of it from one start to the next. */
export interface CompiledCode {
  /** Names the folder for it, before the scripts that are kept are loaded. */
  keepIn(folder: string): void;
  /** Keeps what was compiled in this run, unless that of these scripts was kept already. */
  keep(): void;
}

/** The compiled code of a run that keeps none. */
export const keepsNone: CompiledCode = { keepIn: () => undefined, keep: () => undefined };

const ENDING = '.v8';
/** The ending of code while it is tried. */
const TRIED = '.tried';
/** Ours: the most bytes that are read. */
const MAX_BYTES = 64 * 1024 * 1024;
const DIGEST_BYTES = 32;

/** V8 itself refuses code of another version of it, or of other flags; it does not check the bytes. */
const fileOf = (folder: string, script: string): string =>
  join(folder, `${script}-${process.version}-${process.arch}${ENDING}`);

const digestOf = (code: Buffer): Buffer => createHash('sha256').update(code).digest();

/** Permissions with which others could have written a file. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Returns the code that is kept of a script; undefined if there is none that is whole and our own. It has
 * another name until `trustCompiled`, so that code with which V8 ends the process is tried once.
 */
export const readCompiled = (folder: string, script: string): Buffer | undefined => {
  try {
    const path = fileOf(folder, script);
    if (!lstatSync(folder).isDirectory()) return undefined;
    renameSync(path, `${path}${TRIED}`);
    const file = openSync(
      `${path}${TRIED}`,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const { size, uid, mode } = fstatSync(file);
      const isOwn = uid === process.getuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
      if (size > MAX_BYTES || !isOwn) return undefined;
      const bytes = readFileSync(file);
      const code = bytes.subarray(DIGEST_BYTES);
      return digestOf(code).equals(bytes.subarray(0, DIGEST_BYTES)) ? code : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
};

/** Gives the code that was tried its name back. */
export const trustCompiled = (folder: string, script: string): void => {
  const path = fileOf(folder, script);
  try {
    renameSync(`${path}${TRIED}`, path);
  } catch {
    // It is made anew.
  }
};

/** Keeps the code of a script, in place of that of all others. A failure leaves the next start slower. */
export const writeCompiled = (folder: string, script: string, code: Buffer): void => {
  try {
    makePrivateFolder(folder);
    if (!lstatSync(folder).isDirectory()) return;
    const file = fileOf(folder, script);
    for (const name of readdirSync(folder).filter((each) => each.includes(ENDING))) {
      rmSync(join(folder, name), { recursive: true });
    }
    const part = `${file}.${process.pid}`;
    writeFileSync(part, Buffer.concat([digestOf(code), code]), { mode: 0o600 });
    renameSync(part, file);
  } catch {
    // A full disk, or a folder that may not be written.
  }
};
