import { findProgram } from '../kernel/program.js';
import type { Capability } from './contract.js';

export interface MachineProgram {
  id: string;
  /** Absolute path; null: not installed. */
  path: string | null;
}

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

export const findMachinePrograms = (folders: string[]): Promise<MachineProgram[]> =>
  Promise.all(
    PROGRAMS.map(async ({ id, file }) => ({ id, path: await findProgram(folders, file) })),
  );

export const toProgramCapability = ({ id, path }: MachineProgram): Capability => {
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
