import { mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.js';
import { findProgram } from '../../kernel/program.js';
import { type Confinement, ConfinementFailed } from '../confine/confinement.js';
import { homeEnv } from './home.js';
import type { CliTool, ToolName } from './tool.js';

/** A tool that is installed on this machine. */
export interface InstalledTool {
  path: string;
  /** The first arguments of its command line. */
  command: string[];
  /** The paths that it must be able to read, beside the system. */
  readable: string[];
  /** The version; null if the tool does not run here. */
  version: string | null;
}

export type ToolFinder = ReturnType<typeof createFinder>;

export interface FinderDeps {
  /** The absolute folders that are searched for the tools. */
  path: string[];
  confinement: Confinement | null;
  clock: Clock;
}

const KEPT_MS = 60_000;
const VERSION_MS = 10_000;
/** The folders that every command may read. */
const SYSTEM = ['/usr/', '/bin/'];
const NODE = /^#!.*\bnode\b/;

/** Creates a function that finds a tool, and searches again after a minute. */
export const createFinder = (deps: FinderDeps) => {
  const { clock } = deps;
  const known = new Map<ToolName, { at: number; found: Promise<InstalledTool | null> }>();

  return (tool: CliTool): Promise<InstalledTool | null> => {
    const before = known.get(tool.name);
    if (before && clock.now() - before.at < KEPT_MS) return before.found;
    const found = findTool(deps, tool);
    known.set(tool.name, { at: clock.now(), found });
    // An error may be temporary, so it is not kept.
    found.catch(() => known.delete(tool.name));
    return found;
  };
};

const findTool = async (
  { path: folders, confinement }: FinderDeps,
  { name }: CliTool,
): Promise<InstalledTool | null> => {
  const path = await findProgram(folders, name);
  if (path === null) return null;
  const tool = { path, ...(await commandOf(await realpath(path))) };
  return { ...tool, version: confinement && (await versionOf(confinement, tool)) };
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

/**
 * Returns the version that `--version` prints, run without network in a folder of its own, since it
 * has no need of the login; null if there is none or it is too slow.
 */
const versionOf = async (
  confinement: Confinement,
  { command, readable }: Pick<InstalledTool, 'command' | 'readable'>,
): Promise<string | null> => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-look-'));
  try {
    await mkdir(join(folder, '.codex'));
    const ran = await confinement.run({
      folder,
      env: homeEnv(folder),
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
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
