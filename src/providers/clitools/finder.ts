import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.js';
import type { Confinement } from '../confine/confinement.js';
import { findTool, type InstalledTool, toolVersion } from './find.js';
import { homeEnv } from './home.js';
import type { CliTool, ToolName } from './tool.js';

/** An installed tool with its version. */
export interface VersionedTool extends InstalledTool {
  /** The version; null if the tool does not run here. */
  version: string | null;
}

export type Finder = (tool: CliTool) => Promise<VersionedTool | null>;

export interface FinderDeps {
  /** The absolute folders that are searched for the tools. */
  path: string[];
  confinement: Confinement | null;
  clock: Clock;
}

const KEPT_MS = 60_000;

/** Creates a finder, which searches again after a minute. */
export const createFinder = (deps: FinderDeps): Finder => {
  const { clock } = deps;
  const known = new Map<ToolName, { at: number; found: Promise<VersionedTool | null> }>();

  return (tool) => {
    const before = known.get(tool.name);
    if (before && clock.now() - before.at < KEPT_MS) return before.found;
    const found = look(deps, tool);
    known.set(tool.name, { at: clock.now(), found });
    // An error may be temporary, so it is not kept.
    found.catch(() => known.delete(tool.name));
    return found;
  };
};

/** Finds a tool. `--version` runs in a folder of its own, since it has no need of the login. */
const look = async (deps: FinderDeps, tool: CliTool): Promise<VersionedTool | null> => {
  const { path, confinement } = deps;
  const found = await findTool(path, tool);
  if (!found || !confinement) return found && { ...found, version: null };
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-look-'));
  try {
    await mkdir(join(folder, '.codex'));
    const version = await toolVersion(confinement, found, { folder, env: homeEnv(folder) });
    return { ...found, version };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
