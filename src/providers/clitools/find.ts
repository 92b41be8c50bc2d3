import { mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.js';
import { findProgram } from '../../kernel/program.js';
import { type Confinement, ConfinementFailed } from '../confine/confinement.js';
import { homeEnv } from './home.js';
import type { CliTool, ToolName } from './tool.js';

export interface InstalledTool {
  path: string;
  /** First arguments of the command line. */
  command: string[];
  /** Paths to make readable, in addition to the system. */
  readable: string[];
  /** Null if the tool does not run here. */
  version: string | null;
}

export type ToolFinder = ReturnType<typeof createFinder>;

export interface FinderDeps {
  /** Absolute folders to search. */
  path: string[];
  confinement: Confinement | null;
  clock: Clock;
}

const KEPT_MS = 60_000;
const VERSION_MS = 10_000;
/** Readable for every confined command. */
const SYSTEM = ['/usr/', '/bin/'];
const NODE = /^#!.*\bnode\b/;

/** Cached for a minute. */
export const createFinder = (deps: FinderDeps) => {
  const { clock } = deps;
  const known = new Map<ToolName, { at: number; found: Promise<InstalledTool | null> }>();

  return (tool: CliTool): Promise<InstalledTool | null> => {
    const before = known.get(tool.name);
    if (before && clock.now() - before.at < KEPT_MS) return before.found;
    const found = findTool(deps, tool);
    known.set(tool.name, { at: clock.now(), found });
    // An error may be temporary.
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
  const tool = { path, ...(await resolveCommand(await realpath(path))) };
  return { ...tool, version: confinement && (await detectVersion(confinement, tool)) };
};

/** Programs for Node run on our Node, because another may not be readable when confined. */
const resolveCommand = async (
  real: string,
): Promise<Pick<InstalledTool, 'command' | 'readable'>> => {
  const command = NODE.test(await firstLine(real)) ? [process.execPath, real] : [real];
  const places = command.map(resolveProgramRoot);
  const readable = places.filter((place) => !SYSTEM.some((root) => place.startsWith(root)));
  return { command, readable };
};

/** For a package, this includes its neighbours. */
const resolveProgramRoot = (program: string): string => {
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

/** Runs without network and login. Null if there is no version, or it takes too long. */
const detectVersion = async (
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
