import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NamedError } from '../kernel/failure.js';
import { programEnv } from '../kernel/program.js';
import { runProgramToEnd } from './npm.js';

export class EngineUnusable extends NamedError {}

export interface EngineProbe {
  /** Throws EngineUnusable, or the reason of the signal. */
  probe(folder: string, slug: string, signal: AbortSignal): Promise<void>;
}

const PROBE_MS = 60_000;
const TRIAL = new URL('./trial.js', import.meta.url);

export const engineProbe: EngineProbe = {
  probe: async (folder, slug, signal) => {
    const args = [fileURLToPath(TRIAL), folder, slug];
    const env = programEnv([dirname(process.execPath)]);
    const failure = await runProgramToEnd(process.execPath, args, {
      cwd: folder,
      env,
      signal,
      limitMs: PROBE_MS,
    });
    signal.throwIfAborted();
    if (failure !== null) {
      throw new EngineUnusable(
        `The installed engine does not run on this machine (${failure.slice(0, 500)}). Use a model of another provider instead`,
      );
    }
  },
};
