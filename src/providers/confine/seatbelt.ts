import { type Launch, runChild } from './child.js';
import type { ConfinedCommand, Confinement } from './confinement.js';
import { startPipeProcess } from './pipeprocess.js';
import { checkCommand, checkRun, cleanEnv } from './request.js';

/** Readable system paths besides the folder. Users cannot write to them. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/System', '/Library/Developer/CommandLineTools'];

/**
 * macOS sandbox with sandbox-exec. There is no private /tmp (TMPDIR is the folder) and no process
 * namespace. A process that leaves its group survives the kill, still confined.
 */
export const seatbelt = (): Confinement => ({
  kind: 'sandbox-exec',
  detail: 'sandbox-exec: own folder, no network; a process that leaves its group is not killed',
  run: async (request) => {
    const run = await checkRun(request, SYSTEM);
    const { status: _, ...ran } = await runChild(buildLaunch(run), run);
    return ran;
  },
  hold: async (request) => startPipeProcess(buildLaunch(await checkCommand(request, SYSTEM))),
});

const buildLaunch = ({ argv, folder, env, network, readable = [] }: ConfinedCommand): Launch => ({
  command: '/usr/bin/sandbox-exec',
  args: [
    ...['-D', `FOLDER=${folder}`],
    ...readable.flatMap((path, at) => ['-D', `READABLE${at}=${path}`]),
    ...['-p', profile(network, readable.length), '--', ...argv],
  ],
  cwd: folder,
  env: { ...cleanEnv(folder), TMPDIR: folder, ...env },
});

/** Denies everything that it does not name. `system.sb` is Apple's minimum for any process. */
const profile = (network: boolean, readable: number): string => `
(version 1)
(deny default)
(import "system.sb")
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow file-read* (literal "/")${SYSTEM.map((path) => ` (subpath "${path}")`).join('')})
(allow file-read-metadata (path-ancestors (param "FOLDER")))
(allow file-read* file-write* (subpath (param "FOLDER")))
${Array.from({ length: readable }, (_, at) => `(allow file-read* (subpath (param "READABLE${at}")))`).join('\n')}
(allow file-write-data (literal "/dev/null"))
${network ? '(system-network)\n(allow network*)' : '(deny network*)'}
`;
