import { tidyHomes } from './home.js';
import type { CliTool, ToolName } from './tool.js';

/** Keeps count of who works in the HOME of each tool. */
export interface Homes {
  /** While `work` goes on nothing is tidied away; when the last one is done, all but the login is. */
  use<T>(tool: CliTool, work: () => Promise<T>): Promise<T>;
}

export const createHomes = (home: string): Homes => {
  const users = new Map<ToolName, number>();
  const tidying = new Map<ToolName, Promise<void>>();

  const count = (tool: CliTool, by: 1 | -1): number => {
    const left = (users.get(tool.name) ?? 0) + by;
    users.set(tool.name, left);
    return left;
  };

  return {
    use: async (tool, work) => {
      count(tool, 1);
      await tidying.get(tool.name)?.catch(() => undefined);
      try {
        return await work();
      } finally {
        if (count(tool, -1) === 0) {
          const done = tidyHomes(home, tool);
          tidying.set(tool.name, done);
          await done;
        }
      }
    },
  };
};
