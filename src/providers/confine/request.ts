import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { type ConfinedCommand, type ConfinedRun, ConfinementFailed } from './confinement.js';

const MAX_ARGUMENTS = 64;
const MAX_ARGV_BYTES = 32_768;
const MAX_TIMEOUT_MS = 15 * 60_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The PATH of the daemon may contain a home folder. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** Contains nothing from the environment of the daemon. */
export const cleanEnv = (folder: string): Record<string, string> => ({
  PATH,
  LANG: 'C.UTF-8',
  HOME: folder,
});

/** Returns the rest of a sentence that starts with the field name, or null. */
export const argvFault = (argv: string[]): string | null => {
  if (argv.length < 1 || argv.length > MAX_ARGUMENTS) {
    return `must contain 1 to ${MAX_ARGUMENTS} strings`;
  }
  if (!argv[0]) return 'must begin with the name of a program';
  if (argv.some((part) => part.includes('\0'))) return 'must not contain a NUL character';
  const bytes = argv.reduce((sum, part) => sum + Buffer.byteLength(part) + 1, 0);
  return bytes > MAX_ARGV_BYTES ? 'must not exceed 32 KiB in total' : null;
};

export const checkRun = async (run: ConfinedRun, system: string[]): Promise<ConfinedRun> => {
  if (!(run.timeoutMs >= 1 && run.timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new ConfinementFailed(`timeoutMs must be 1 to ${MAX_TIMEOUT_MS}`);
  }
  return { ...run, ...(await checkCommand(run, system)) };
};

/**
 * Resolves the folders. Throws ConfinementFailed. A folder within a readable path is rejected,
 * because its siblings, including keys of the daemon, would be readable.
 */
export const checkCommand = async (
  command: ConfinedCommand,
  system: string[],
): Promise<ConfinedCommand> => {
  const fault = argvFault(command.argv);
  if (fault) throw new ConfinementFailed(`argv ${fault}`);
  for (const [name, value] of Object.entries(command.env ?? {})) {
    if (!NAME.test(name))
      throw new ConfinementFailed(
        `env names must contain only letters, digits and _, and not begin with a digit (got "${name}")`,
      );
    if (value.includes('\0'))
      throw new ConfinementFailed(`env.${name} must not contain a NUL character`);
  }
  const readable = await Promise.all((command.readable ?? []).map(resolved));
  if (readable.includes('/'))
    throw new ConfinementFailed(
      'readable must not contain the root folder (/). Choose the folders that the program needs',
    );
  const folder = await checkFolder(command.folder, [...system, ...readable]);
  return { ...command, folder, ...(readable.length > 0 && { readable }) };
};

const resolved = async (folder: string): Promise<string> => {
  if (!isAbsolute(folder))
    throw new ConfinementFailed(`The folder ${folder} must be an absolute path`);
  return realpath(folder).catch((error: NodeJS.ErrnoException) => {
    throw new ConfinementFailed(
      `The folder ${folder} cannot be used: ${error.code}. Check that the folder exists and can be read`,
    );
  });
};

const checkFolder = async (folder: string, readable: string[]): Promise<string> => {
  const real = await resolved(folder);
  const isOpen = readable.some((root) => real === root || real.startsWith(`${root}/`));
  if (real === '/' || isOpen) {
    throw new ConfinementFailed(
      `Every command can read the folder ${real}. Move the data folder elsewhere`,
    );
  }
  return real;
};
