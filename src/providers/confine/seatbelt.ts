import { runChild } from './child.js';
import type { Confinement } from './confinement.js';
import { checkRun, cleanEnv } from './request.js';

/** What a command may read beside its folder: the system, none of it written by its users. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/System', '/Library/Developer/CommandLineTools'];

/**
 * macOS's sandbox by sandbox-exec. There is no private /tmp (TMPDIR is the folder) and no process
 * namespace: a process that leaves its group outlives the kill, still confined.
 */
export const seatbelt = (): Confinement => ({
  kind: 'sandbox-exec',
  detail: 'sandbox-exec: own folder, no network; a process that leaves its group is not killed',
  run: async (asked) => {
    const run = await checkRun(asked, SYSTEM);
    const { status: _, ...ran } = await runChild(
      {
        command: '/usr/bin/sandbox-exec',
        args: ['-D', `FOLDER=${run.folder}`, '-p', profile(run.network), '--', ...run.argv],
        cwd: run.folder,
        env: { ...cleanEnv(run.folder), TMPDIR: run.folder, ...run.env },
      },
      run,
    );
    return ran;
  },
});

/** All is denied but what is named. `system.sb` is Apple's own minimum for any process to start. */
const profile = (network: boolean): string => `
(version 1)
(deny default)
(import "system.sb")
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow file-read* (literal "/")${SYSTEM.map((path) => ` (subpath "${path}")`).join('')})
(allow file-read-metadata (path-ancestors (param "FOLDER")))
(allow file-read* file-write* (subpath (param "FOLDER")))
(allow file-write-data (literal "/dev/null"))
${network ? '(system-network)\n(allow network*)' : '(deny network*)'}
`;
