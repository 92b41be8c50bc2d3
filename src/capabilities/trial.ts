import { argv, exit } from 'node:process';
import { pathToFileURL } from 'node:url';

/** The part of node-llama-cpp that a trial needs. */
interface TriedEngine {
  getLlama(options: Record<string, unknown>): Promise<unknown>;
}

/**
 * Loads the engine whose entry file is the first argument, for the processor alone, and ends with 0.
 * A program for another processor ends the process with a signal. It is a file of its own, since the
 * engine forks a process with the options of this one.
 */
const engine: TriedEngine = await import(pathToFileURL(argv[2] ?? '').href);
await engine.getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
exit(0);
