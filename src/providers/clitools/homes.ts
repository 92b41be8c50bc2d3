import { tidyHomes } from './home.js';
import type { CliTool, ToolName } from './tool.js';

/** Counts the calls that use the HOME of each tool. */
export interface Homes {
  /**
   * Runs `work`, during which nothing is removed from the HOME. After the last call everything but
   * the login is removed.
   */
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
