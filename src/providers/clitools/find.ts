import { constants } from 'node:fs';
import { access, open, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { ConfinedRun, Confinement } from '../confine/confinement.js';
import { ConfinementFailed } from '../confine/confinement.js';
import type { CliTool } from './tool.js';

/** A tool that is installed on this machine. */
export interface InstalledTool {
  path: string;
  /** The first arguments of its command line. */
  command: string[];
  /** The paths that it must be able to read, beside the system. */
  readable: string[];
}

/** The folders that every command may read. */
const SYSTEM = ['/usr/', '/bin/'];
const NODE = /^#!.*\bnode\b/;

/** Returns the first program with that name in these folders; null if there is none. */
export const findTool = async (
  folders: string[],
  { name }: CliTool,
): Promise<InstalledTool | null> => {
  for (const folder of folders.filter((each) => isAbsolute(each))) {
    const path = join(folder, name);
    const real = await programAt(path);
    if (real) return { path, ...(await commandOf(real)) };
  }
  return null;
};

const programAt = async (path: string): Promise<string | null> => {
  try {
    await access(path, constants.X_OK);
    return await realpath(path);
  } catch {
    // A program that is missing, not executable for us, or a broken link counts as not installed.
    return null;
  }
};

/**
 * Returns the command of a program. A program for Node runs on our Node, since another Node may be
 * in a place that no confined command can read.
 */
const commandOf = async (real: string): Promise<Pick<InstalledTool, 'command' | 'readable'>> => {
  const command = NODE.test(await firstLine(real)) ? [process.execPath, real] : [real];
  const places = command.map(placeOf);
  const readable = places.filter((place) => !SYSTEM.some((root) => place.startsWith(root)));
  return { command, readable };
};

/** Returns the path that must be readable. For a package that includes the packages beside it. */
const placeOf = (program: string): string => {
  const at = program.indexOf('/node_modules/');
  return at < 0 ? program : program.slice(0, at + '/node_modules'.length);
};

const firstLine = async (path: string): Promise<string> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? '';
  } finally {
    await file.close();
  }
};

const VERSION_MS = 10_000;

/**
 * Returns the version that `--version` prints, run without network; null if there is none or it is
 * too slow.
 */
export const toolVersion = async (
  confinement: Confinement,
  { command, readable }: InstalledTool,
  run: Pick<ConfinedRun, 'folder' | 'env'>,
): Promise<string | null> => {
  try {
    const ran = await confinement.run({
      ...run,
      argv: [...command, '--version'],
      readable,
      timeoutMs: VERSION_MS,
      maxOutputBytes: 8192,
      network: false,
      signal: new AbortController().signal,
    });
    return ran.exitCode === 0 ? (/\d+\.\d+(?:\.[\w.+-]+)?/.exec(ran.stdout)?.[0] ?? null) : null;
  } catch (error) {
    if (error instanceof ConfinementFailed) return null;
    throw error;
  }
};
