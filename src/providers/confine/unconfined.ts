import { runChild } from './child.js';
import type { Confinement } from './confinement.js';
import { checkRun, cleanEnv } from './request.js';

/**
 * No confinement, where the operator allows it: a clean environment and a process group of its
 * own are all there is. `network` cuts nothing, and a process that leaves its group is not killed.
 */
export const unconfined = (): Confinement => ({
  kind: 'none',
  detail: 'not confined (allowUnconfined): commands run with all the rights of the daemon',
  run: async (asked) => {
    const run = await checkRun(asked, []);
    const [command = '', ...args] = run.argv;
    const env = { ...cleanEnv(run.folder), ...run.env };
    const { status: _, ...ran } = await runChild({ command, args, cwd: run.folder, env }, run);
    return ran;
  },
});
