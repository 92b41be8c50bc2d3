import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfinedCommand, ConfinedProcess, Confinement } from './confinement.js';

/** A program of ours that runs in a process of its own. */
export interface OwnProgram extends Pick<ConfinedCommand, 'memoryBytes'> {
  script: URL;
  /** Absolute paths that it may read beside its own code. */
  readable: string[];
  /** The packages that it loads, whose folders it may read. */
  packages: string[];
  /** True: it speaks on descriptor 3, and what is printed to its standard output is a remark. */
  speaksApart?: boolean;
}

/** Ours: the heap of such a program in megabytes. What it takes beside it is limited elsewhere. */
const HEAP_MB = 1024;
const NICENESS = '10';
/** Starts the arguments with descriptor 3 in the place of the standard output, which joins stderr. */
const APART = ['sh', '-c', 'exec 3>&1 1>&2; exec "$@"', 'sh'];

/**
 * Starts a program of ours in a process of its own that has no network and a low priority, and may
 * write into the folder alone. Throws ConfinementFailed.
 */
export const holdWorker = (
  confinement: Confinement,
  { script, readable, packages, speaksApart, memoryBytes }: OwnProgram,
  folder: string,
): Promise<ConfinedProcess> => {
  const file = fileURLToPath(script);
  const node = [process.execPath, `--max-old-space-size=${HEAP_MB}`];
  const program = ['nice', '-n', NICENESS, ...node, file];
  return confinement.hold({
    argv: [...(speaksApart ? APART : []), ...program],
    memoryBytes,
    folder,
    network: false,
    readable: [...new Set([...readable, dirname(process.execPath), ...codeOf(file, packages)])],
  });
};

/** Returns the folders of the script's own code and of the packages, as they are installed. */
const codeOf = (file: string, packages: string[]): string[] => {
  const require = createRequire(file);
  const installed = packages.flatMap((name) => {
    try {
      return [folderOfPackages(realpathSync(require.resolve(name)))];
    } catch {
      // An optional package that is not installed; the script says what it misses.
      return [];
    }
  });
  const dist = file.slice(0, file.lastIndexOf(`${sep}dist${sep}`) + 5);
  return [dist, join(dirname(dist), 'package.json'), ...installed];
};

/** Returns the outermost folder of packages on the way: pnpm has links from one to the next in it. */
const folderOfPackages = (path: string): string =>
  path.slice(0, path.indexOf(`${sep}node_modules${sep}`) + 13);
