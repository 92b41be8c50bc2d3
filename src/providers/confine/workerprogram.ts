import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfinedCommand, ConfinedProcess, Confinement } from './confinement.js';

export interface WorkerProgram extends Pick<ConfinedCommand, 'memoryBytes'> {
  script: URL;
  readable: string[];
  packages: string[];
  /** Whether output is on descriptor 3. Then standard output is treated as log. */
  speaksApart?: boolean;
}

/** Heap of the program, in megabytes. Other memory is limited elsewhere. */
const HEAP_MB = 1024;
const NICENESS = '10';
/** Maps descriptor 3 to standard output, and standard output to stderr. */
const SWAP_DESCRIPTORS = ['sh', '-c', 'exec 3>&1 1>&2; exec "$@"', 'sh'];

/**
 * Runs a program of the daemon in a separate process without network, with low priority, and with
 * write access to the folder only. Throws ConfinementFailed.
 */
export const startConfinedWorker = (
  confinement: Confinement,
  { script, readable, packages, speaksApart, memoryBytes }: WorkerProgram,
  folder: string,
): Promise<ConfinedProcess> => {
  const file = fileURLToPath(script);
  const node = [process.execPath, `--max-old-space-size=${HEAP_MB}`];
  const program = ['nice', '-n', NICENESS, ...node, file];
  return confinement.hold({
    argv: [...(speaksApart ? SWAP_DESCRIPTORS : []), ...program],
    memoryBytes,
    folder,
    network: false,
    readable: [
      ...new Set([...readable, dirname(process.execPath), ...listCodeFolders(file, packages)]),
    ],
  });
};

const listCodeFolders = (file: string, packages: string[]): string[] => {
  const require = createRequire(file);
  const installed = packages.flatMap((name) => {
    try {
      return [folderOfPackages(realpathSync(require.resolve(name)))];
    } catch {
      // The optional package is not installed. The script reports it.
      return [];
    }
  });
  const dist = file.slice(0, file.lastIndexOf(`${sep}dist${sep}`) + 5);
  return [dist, join(dirname(dist), 'package.json'), ...installed];
};

/** Returns the outermost `node_modules`, because pnpm links packages within it. */
const folderOfPackages = (path: string): string =>
  path.slice(0, path.indexOf(`${sep}node_modules${sep}`) + 13);
