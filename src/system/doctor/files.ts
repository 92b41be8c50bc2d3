import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../kernel/failure.js';
import { shellWord } from '../../kernel/shellword.js';
import type { Finding } from './contract.js';
import { failedFinding, okFinding, warnFinding } from './rules.js';

const FOR_OTHERS = 0o077;
const WITHIN_HOME = ['adjutant.db', 'audit.head'];

export const checkFiles = async (home: string): Promise<Finding[]> => {
  const keys = await findExposedFiles(join(home, 'keys'));
  return [
    await checkHome(home),
    keys.length === 0
      ? okFinding('keys', 'accessible only to the daemon')
      : failedFinding(
          'keys',
          `${keys.join(', ')} can be read by other users of the machine`,
          `chmod 600 ${shellWord(join(home, 'keys'))}/*   and make sure that nobody copied them`,
        ),
  ];
};

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
        `ADJUTANT_KNOWLEDGE_ROOTS contains ${root.slice(0, 300)}, which does not exist`,
        'create or mount the folder, or change ADJUTANT_KNOWLEDGE_ROOTS',
      ),
    );
};

const checkHome = async (home: string): Promise<Finding> => {
  const { mode, uid } = await stat(home);
  const at = `${home}, 0${(mode & 0o777).toString(8)}`;
  if (uid !== process.getuid?.()) {
    return warnFinding(
      'home',
      `${at}: belongs to another user`,
      `chown -R "$(id -un)" ${shellWord(home)}`,
    );
  }
  if ((mode & FOR_OTHERS) === 0) return okFinding('home', at);
  const open = await findExposedFiles(home, WITHIN_HOME);
  const readable = open.length === 0 ? '' : `, and read ${open.join(', ')}`;
  return warnFinding(
    'home',
    `${at}: other users of the machine can list it${readable}`,
    `chmod 700 ${shellWord(home)}`,
  );
};

/** Names that other users may read or write; empty if the folder does not exist. */
const findExposedFiles = async (folder: string, only?: string[]): Promise<string[]> => {
  const names = await readdir(folder).catch(() => []);
  const wanted = names.filter((name) => only === undefined || only.includes(name));
  const modes = await Promise.all(
    wanted.map(async (name) => (await stat(join(folder, name))).mode),
  );
  return wanted.filter((_, at) => (modes[at] ?? 0) & FOR_OTHERS);
};
