import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bubblewrap } from './bubblewrap.js';
import { type Confinement, ConfinementFailed } from './confinement.js';
import { seatbelt } from './seatbelt.js';
import { unconfined } from './unconfined.js';

/** Resolves to null if commands are turned off. */
export const findConfinement = async (options: {
  allowUnconfined: boolean;
}): Promise<Confinement | null> => {
  verified ??= findVerified();
  return (await verified) ?? (options.allowUnconfined ? unconfined() : null);
};

/** Tested once per process. */
let verified: Promise<Confinement | null> | undefined;

const findVerified = async (): Promise<Confinement | null> => {
  for (const confinement of candidates()) {
    if (await verifyConfinement(confinement)) return confinement;
  }
  return null;
};

const candidates = (): Confinement[] => {
  if (process.platform === 'linux') return [bubblewrap(true), bubblewrap(false)];
  if (process.platform === 'darwin') return [seatbelt()];
  return [];
};

/**
 * Verifies that a command can read its own folder and nothing else. An installed program proves
 * little, because containers and hardened kernels often deny namespaces.
 */
export const verifyConfinement = async (
  confinement: Pick<Confinement, 'run'>,
): Promise<boolean> => {
  const base = await mkdtemp(join(tmpdir(), 'adjutant-confine-'));
  try {
    const folder = join(base, 'folder');
    await mkdir(folder);
    await writeFile(join(folder, 'inside'), 'inside');
    await writeFile(join(base, 'outside'), 'outside');
    const { exitCode, stdout } = await confinement.run({
      argv: ['cat', 'inside', '../outside'],
      folder,
      timeoutMs: 10_000,
      maxOutputBytes: 4_096,
      network: false,
      signal: new AbortController().signal,
    });
    return exitCode === 1 && stdout === 'inside';
  } catch (error) {
    if (error instanceof ConfinementFailed) return false;
    throw error;
  } finally {
    await rm(base, { recursive: true });
  }
};
