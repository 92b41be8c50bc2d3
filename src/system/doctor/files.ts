import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../kernel/failure.js';
import { shellWord } from '../../kernel/shellword.js';
import type { Finding } from './contract.js';
import { failedFinding, okFinding, warnFinding } from './rules.js';

const FOR_OTHERS = 0o077;
const WITHIN_HOME = ['adjutant.db', 'audit.head'];

/** Checks if other users of the machine can read the home and the keys in it. */
export const checkFiles = async (home: string): Promise<Finding[]> => {
  const keys = await openFilesOf(join(home, 'keys'));
  return [
    await checkHome(home),
    keys.length === 0
      ? okFinding('keys', 'for the daemon alone')
      : failedFinding(
          'keys',
          `${keys.join(', ')} can be read by others on the machine`,
          `chmod 600 ${shellWord(join(home, 'keys'))}/*   and see to it that nobody took a copy`,
        ),
  ];
};

/** Reports each root of the folders that may be indexed that does not exist. */
export const missingRoots = async (roots: string[]): Promise<Finding[]> => {
  const found = await Promise.all(
    roots.map((root) =>
      stat(root).catch((error: unknown) => {
        if (errorCode(error) !== 'ENOENT') throw error;
        return null;
      }),
    ),
  );
  return roots
    .filter((_, at) => found[at] === null)
    .map((root) =>
      warnFinding(
        'folders',
        `${root.slice(0, 300)} does not exist, and ADJUTANT_KNOWLEDGE_ROOTS names it`,
        'make or mount it, or change ADJUTANT_KNOWLEDGE_ROOTS',
      ),
    );
};

const checkHome = async (home: string): Promise<Finding> => {
  const { mode, uid } = await stat(home);
  const at = `${home}, 0${(mode & 0o777).toString(8)}`;
  if (uid !== process.getuid?.()) {
    return warnFinding(
      'home',
      `${at}, belongs to somebody else`,
      `chown -R "$(id -un)" ${shellWord(home)}`,
    );
  }
  if ((mode & FOR_OTHERS) === 0) return okFinding('home', at);
  const open = await openFilesOf(home, WITHIN_HOME);
  const read = open.length === 0 ? '' : `, and read ${open.join(', ')}`;
  return warnFinding(
    'home',
    `${at}: others on the machine can look in${read}`,
    `chmod 700 ${shellWord(home)}`,
  );
};

/**
 * Returns the names in a folder that other users may read or write; none if the folder does not
 * exist.
 */
const openFilesOf = async (folder: string, only?: string[]): Promise<string[]> => {
  const names = await readdir(folder).catch(() => []);
  const wanted = names.filter((name) => only === undefined || only.includes(name));
  const modes = await Promise.all(
    wanted.map(async (name) => (await stat(join(folder, name))).mode),
  );
  return wanted.filter((_, at) => (modes[at] ?? 0) & FOR_OTHERS);
};
