import { findProgram } from '../kernel/program.js';
import type { Capability } from './contract.js';

/** A program of the machine that the daemon uses where it is. */
export interface MachineProgram {
  id: string;
  /** The absolute path; null: it is not installed. */
  path: string | null;
}

/** The programs by their ids, with their file names, their use, and how Debian installs them. */
const PROGRAMS = [
  {
    id: 'ffmpeg',
    file: 'ffmpeg',
    name: 'ffmpeg (more audio formats)',
    remedy: 'apt install ffmpeg',
  },
  {
    id: 'pocketsphinx',
    file: 'pocketsphinx_continuous',
    name: 'PocketSphinx (English speech)',
    remedy: 'apt install pocketsphinx pocketsphinx-en-us',
  },
];

/** Looks for the programs in folders. */
export const findMachinePrograms = (folders: string[]): Promise<MachineProgram[]> =>
  Promise.all(
    PROGRAMS.map(async ({ id, file }) => ({ id, path: await findProgram(folders, file) })),
  );

/** Returns a program as the list has it. */
export const programOf = ({ id, path }: MachineProgram): Capability => {
  const { name = id, remedy = '' } = PROGRAMS.find((each) => each.id === id) ?? {};
  return {
    id,
    kind: 'tool',
    name,
    status: path === null ? 'missing' : 'available',
    version: null,
    path,
    reason: path === null ? `It is not installed. Install it with: ${remedy}` : null,
    bytes: null,
    licence: null,
    usedBy: [],
    install: null,
  };
};
