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

export interface CodeCache {
  /** Call before the cached scripts are loaded. */
  keepIn(folder: string): void;
  keep(): void;
}

export const noCodeCache: CodeCache = { keepIn: () => undefined, keep: () => undefined };

const ENDING = '.v8';
const TRIED = '.tried';
const MAX_BYTES = 64 * 1024 * 1024;
const DIGEST_BYTES = 32;

/** V8 rejects code of another version or other flags, but does not check the bytes. */
const buildCachePath = (folder: string, script: string): string =>
  join(folder, `${script}-${process.version}-${process.arch}${ENDING}`);

const computeSha256 = (code: Buffer): Buffer => createHash('sha256').update(code).digest();

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Renames the file until `trustCompiled`, so that code that crashes V8 is tried only once.
 * Undefined if there is no intact file of our own.
 */
export const readCompiled = (folder: string, script: string): Buffer | undefined => {
  try {
    const path = buildCachePath(folder, script);
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
      return computeSha256(code).equals(bytes.subarray(0, DIGEST_BYTES)) ? code : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
};

export const trustCompiled = (folder: string, script: string): void => {
  const path = buildCachePath(folder, script);
  try {
    renameSync(`${path}${TRIED}`, path);
  } catch {}
};

/** Replaces the code of all other scripts. A failure only slows down the next start. */
export const writeCompiled = (folder: string, script: string, code: Buffer): void => {
  try {
    makePrivateFolder(folder);
    if (!lstatSync(folder).isDirectory()) return;
    const file = buildCachePath(folder, script);
    for (const name of readdirSync(folder).filter((each) => each.includes(ENDING))) {
      rmSync(join(folder, name), { recursive: true });
    }
    const part = `${file}.${process.pid}`;
    writeFileSync(part, Buffer.concat([computeSha256(code), code]), { mode: 0o600 });
    renameSync(part, file);
  } catch {}
};
