import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorCode } from './failure.js';

const ASK_MS = 5_000;
const MAX_BYTES = 65_536;

/** Returns the first program with that name in these folders; null if there is none. */
export const findProgram = async (folders: string[], name: string): Promise<string | null> => {
  for (const folder of folders.filter((each) => isAbsolute(each))) {
    const path = join(folder, name);
    const isProgram = access(path, constants.X_OK).then(
      () => true,
      // A program that is missing or not executable for us counts as not installed.
      () => false,
    );
    if (await isProgram) return path;
  }
  return null;
};

/** Returns the environment of a tunnel's program, which has nothing of the daemon's own. */
export const programEnv = (folders: string[]): Record<string, string> => ({
  PATH: folders.join(delimiter),
  HOME: homedir(),
  LANG: 'C.UTF-8',
});

/**
 * Returns the output of a short command, both streams; null if it failed or took too long. No shell
 * reads it.
 */
export const outputOf = (
  path: string,
  args: string[],
  env: Record<string, string>,
): Promise<string | null> =>
  new Promise((resolve) => {
    const limits = { timeout: ASK_MS, maxBuffer: MAX_BYTES, killSignal: 'SIGKILL' as const };
    const child = execFile(path, args, { ...limits, env, cwd: '/' }, (error, stdout, stderr) => {
      resolve(error ? null : `${stdout}${stderr}`);
    });
    child.stdin?.end();
  });

/**
 * Sends a signal to the whole process group. An error because no living process is left is ignored.
 */
export const signalGroup = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(errorCode(error))) throw error;
  }
};
