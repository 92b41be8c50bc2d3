import { type Launch, runChild } from './child.js';
import type { ConfinedCommand, Confinement } from './confinement.js';
import { startPipeProcess } from './pipeprocess.js';
import { checkCommand, checkRun, cleanEnv } from './request.js';

/**
 * Used without confinement, if the operator allows it. A command gets only a clean environment and
 * its own process group. `network` has no effect, and a process that leaves its group is not
 * killed.
 */
export const unconfined = (): Confinement => ({
  kind: 'none',
  detail: 'not confined (allowUnconfined): commands run with all the rights of the daemon',
  run: async (request) => {
    const run = await checkRun(request, []);
    const { status: _, ...ran } = await runChild(buildLaunch(run), run);
    return ran;
  },
  hold: async (request) => startPipeProcess(buildLaunch(await checkCommand(request, []))),
});

const buildLaunch = ({ argv: [command = '', ...args], folder, env }: ConfinedCommand): Launch => ({
  command,
  args,
  cwd: folder,
  env: { ...cleanEnv(folder), ...env },
});
