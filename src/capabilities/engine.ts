import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NamedError } from '../kernel/failure.js';
import { programEnv } from '../kernel/program.js';
import { ran } from './npm.js';

/** The error of an engine that does not run on this machine; it says what happened. */
export class EngineUnusable extends NamedError {}

/** Finds out whether an engine runs here. */
export interface EngineProbe {
  /** Throws EngineUnusable, or the reason of the signal. */
  probe(folder: string, signal: AbortSignal): Promise<void>;
}

const PROBE_MS = 60_000;
/** Loads the program for the processor, which runs without a GPU too, which ends the process where it was made for another processor. */
const SCRIPT = `
const { getLlama } = await import(process.argv[1]);
await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
process.exit(0);
`;

export const engineProbe: EngineProbe = {
  probe: async (folder, signal) => {
    const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
    const args = ['--input-type=module', '-e', SCRIPT, '--', pathToFileURL(entry).href];
    const env = programEnv([dirname(process.execPath)]);
    const failure = await ran(process.execPath, args, {
      cwd: folder,
      env,
      signal,
      limitMs: PROBE_MS,
    });
    signal.throwIfAborted();
    if (failure !== null) {
      throw new EngineUnusable(`It does not run on this machine: ${failure.slice(0, 500)}`);
    }
  },
};
