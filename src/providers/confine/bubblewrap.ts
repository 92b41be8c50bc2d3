import { type Launch, runChild } from './child.js';
import { type ConfinedCommand, type Confinement, ConfinementFailed } from './confinement.js';
import { startPipeProcess } from './pipeprocess.js';
import { checkCommand, checkRun, cleanEnv } from './request.js';

/** Readable paths besides the folder. None of them may contain data of the daemon. */
const SYSTEM = ['/usr', '/bin', '/lib', '/lib64', '/etc/alternatives'];
/** Needed for name resolution and certificates. Readable only with network access. */
const ONLINE = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl/certs'];
const SCRATCH_BYTES = 64 * 1024 * 1024;
/**
 * Limits per command: processes (the kernel exempts root). Per process: file size, open files, and
 * memory unless the command sets its own limit.
 */
const LIMITS = ['--nproc=512', '--fsize=1073741824', '--nofile=1024', '--core=0'];
/** With WebAssembly, V8 of Node 24 maps 2 to 3 GiB for the recognition of a page. */
const MEMORY_BYTES = 3 * 1024 ** 3;

/**
 * `hardened` requires bubblewrap 0.8 and prlimit. It adds limits, bounded scratch space, and denies
 * further user namespaces.
 */
export const bubblewrap = (hardened: boolean): Confinement => ({
  kind: 'bubblewrap',
  detail: hardened
    ? 'bubblewrap: own namespaces, no network, limits on processes and memory'
    : 'bubblewrap: own namespaces, no network; no limits because it is older than 0.8 or prlimit is missing',
  run: async (request) => {
    const run = await checkRun(request, SYSTEM);
    const { status, ...ran } = await runChild(buildLaunch(run, hardened), run);
    // bubblewrap reports an exit code only if the command was started.
    if (ran.signal === null && !status.includes('"exit-code"')) throw refusal(ran.stderr);
    return ran;
  },
  hold: async (request) =>
    startPipeProcess(buildLaunch(await checkCommand(request, SYSTEM), hardened)),
});

const buildLaunch = (command: ConfinedCommand, hardened: boolean): Launch => {
  const memory = `--data=${command.memoryBytes ?? MEMORY_BYTES}`;
  const limits = hardened ? ['prlimit', ...LIMITS, memory, '--'] : [];
  return {
    command: 'bwrap',
    args: ['--args', '3', '--json-status-fd', '4', '--', ...limits, ...command.argv],
    cwd: '/',
    env: cleanEnv(command.folder),
    options: options(command, hardened),
  };
};

/**
 * Order matters: a later mount covers an earlier one, and paths made read-only at the end stay
 * read-only.
 */
const options = (run: ConfinedCommand, hardened: boolean): string[] => [
  ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session'],
  ...(run.network ? ['--share-net'] : []),
  ...(hardened ? ['--disable-userns'] : []),
  ...['--cap-drop', 'ALL'],
  ...[...SYSTEM, ...(run.network ? ONLINE : [])].flatMap((path) => ['--ro-bind-try', path, path]),
  // A writable /proc/sys/kernel/core_pattern would allow an escape if the daemon runs as root.
  ...['--proc', '/proc', '--remount-ro', '/proc'],
  ...['--dev', '/dev', ...scratch('/dev/shm', hardened), '--remount-ro', '/dev'],
  ...scratch('/tmp', hardened),
  ...(run.readable ?? []).flatMap((path) => ['--ro-bind', path, path]),
  ...['--bind', run.folder, run.folder, '--remount-ro', '/', '--chdir', run.folder],
  // Set only inside: in the environment of bubblewrap itself, an LD_PRELOAD would run outside.
  ...Object.entries(run.env ?? {}).flatMap(([name, value]) => ['--setenv', name, value]),
];

const scratch = (path: string, hardened: boolean): string[] => [
  ...(hardened ? ['--size', String(SCRATCH_BYTES)] : []),
  ...['--tmpfs', path],
];

const refusal = (stderr: string): ConfinementFailed => {
  const reason = stderr.trim().split('\n').at(-1);
  return new ConfinementFailed(`bubblewrap could not start the command: ${reason}`);
};
