import type { Cancel, Clock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { ToolGroup } from '../tools/module.js';
import { createSkillFolders, type FolderSkill } from './folders.js';
import type { Servers } from './servers.js';
import { skillsTools } from './tools.js';

/** Path words of the API, the group of skill folders, and future groups. */
const RESERVED = ['permissions', 'tools', 'mcp', 'skills', 'agents', 'knowledge', 'tasks', 'email'];
const FRESH_MS = 2_000;
const SWEEP_MS = 60_000;

interface SkillsDeps {
  home: string;
  clock: Clock;
  log: Log;
  servers: Servers;
  reserved: ReadonlySet<string>;
}

export const reservedSkillNames = (builtIn: string[]): ReadonlySet<string> =>
  new Set([...RESERVED, ...builtIn]);

export const createSkills = ({ home, clock, log, servers, reserved }: SkillsDeps) => {
  const reader = createSkillFolders(home);
  let folders: FolderSkill[] = [];
  let folderTools = skillsTools(reader, []);
  let groups: ToolGroup[] = [];
  let ofServers: ToolGroup[] | null = null;
  let freshUntil = 0;
  let stopSweeping: Cancel = () => undefined;

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
    start: async (): Promise<void> => {
      await servers.start();
      await scan();
      const sweep = () => {
        servers.sweep().catch((err) => log.warn({ err }, 'failed to end idle MCP sessions'));
      };
      stopSweeping = clock.every(SWEEP_MS, sweep, { ref: false });
    },
    stop: async (): Promise<void> => {
      stopSweeping();
      await servers.stop();
    },
    refresh,
    /** At most every two seconds. */
    keepFresh: async (): Promise<void> => {
      if (performance.now() >= freshUntil) await refresh();
    },
    folders: (): FolderSkill[] => folders,
    servers,
    /** The array stays the same until something changes. */
    groups: (): ToolGroup[] => {
      const now = servers.groups();
      if (now !== ofServers) groups = [folderTools, ...now];
      ofServers = now;
      return groups;
    },
  };
};

export type Skills = ReturnType<typeof createSkills>;

/** Skills and groups of tools share one namespace. */
const distinct = (skill: FolderSkill, taken: ReadonlySet<string>): FolderSkill =>
  skill.file && taken.has(skill.folder)
    ? {
        ...skill,
        file: null,
        fault: `The name ${skill.folder} is already used by a group of tools`,
      }
    : skill;
