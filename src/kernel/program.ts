import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorCode } from './failure.js';

const ASK_MS = 5_000;
const MAX_BYTES = 65_536;

export const findProgram = async (folders: string[], name: string): Promise<string | null> => {
  for (const folder of folders.filter((each) => isAbsolute(each))) {
    const path = join(folder, name);
    const isProgram = access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (await isProgram) return path;
  }
  return null;
};

export const programEnv = (folders: string[]): Record<string, string> => ({
  PATH: folders.join(delimiter),
  HOME: homedir(),
  LANG: 'C.UTF-8',
});

export const readProgramOutput = (
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

export const signalGroup = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(errorCode(error))) throw error;
  }
};
