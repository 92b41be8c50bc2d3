import { join } from 'node:path';
import type { ToolGroup } from '../tools/tool.js';
import { createSkillFolders, type FolderSkill } from './folders.js';
import { createServers, type Servers, type ServersDeps } from './servers.js';
import { skillsTools } from './tools.js';

/** The extensions of the built-in tools: skill folders and MCP servers. */
export interface Skills {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Reads the skill folders and `mcp.json` again. */
  refresh(): Promise<void>;
  /** Does the same, but at most every two seconds, for callers that come often. */
  keepFresh(): Promise<void>;
  folders(): FolderSkill[];
  servers: Servers;
  /** Returns their tools; the array stays the same until something changes. */
  groups(): ToolGroup[];
}

/**
 * Reserved names: words in the API's paths, the group that reads skill folders, and future groups.
 */
const RESERVED = ['permissions', 'tools', 'mcp', 'skills', 'agents', 'knowledge', 'tasks', 'email'];
const FRESH_MS = 2_000;
const SWEEP_MS = 60_000;

export const createSkills = (
  deps: Omit<ServersDeps, 'file' | 'reserved'> & { builtIn: string[] },
): Skills => {
  const reserved = new Set([...RESERVED, ...deps.builtIn]);
  const reader = createSkillFolders(deps.home);
  const servers = createServers({ ...deps, file: join(deps.home, 'mcp.json'), reserved });
  let folders: FolderSkill[] = [];
  let folderTools = skillsTools(reader, []);
  let groups: ToolGroup[] = [];
  let ofServers: ToolGroup[] | null = null;
  let freshUntil = 0;
  let sweeping: NodeJS.Timeout | undefined;

  const scan = async (): Promise<void> => {
    const taken = new Set([...reserved, ...servers.all().map(({ name }) => name)]);
    const found = (await reader.scan()).map((one) => distinct(one, taken));
    if (JSON.stringify(found) === JSON.stringify(folders)) return;
    folders = found;
    folderTools = skillsTools(reader, found);
    ofServers = null;
  };

  const refresh = async (): Promise<void> => {
    freshUntil = performance.now() + FRESH_MS;
    await servers.refresh();
    await scan();
  };

  return {
    start: async () => {
      await servers.start();
      await scan();
      sweeping = setInterval(() => {
        servers.sweep().catch((err) => deps.log.warn({ err }, 'MCP sessions were not ended'));
      }, SWEEP_MS).unref();
    },
    stop: async () => {
      clearInterval(sweeping);
      await servers.stop();
    },
    refresh,
    keepFresh: async () => {
      if (performance.now() >= freshUntil) await refresh();
    },
    folders: () => folders,
    servers,
    groups: () => {
      const now = servers.groups();
      if (now !== ofServers) groups = [folderTools, ...now];
      ofServers = now;
      return groups;
    },
  };
};

/**
 * Marks a skill as unusable if its name is taken: skills and groups of tools share one set of
 * names.
 */
const distinct = (skill: FolderSkill, taken: ReadonlySet<string>): FolderSkill =>
  skill.file && taken.has(skill.folder)
    ? { ...skill, file: null, fault: `The name ${skill.folder} is taken by tools` }
    : skill;
