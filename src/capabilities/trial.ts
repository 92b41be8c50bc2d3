import { createRequire } from 'node:module';
import { join } from 'node:path';
import { arch, argv, exit, platform } from 'node:process';
import { pathToFileURL } from 'node:url';

/** The part of node-llama-cpp that a trial needs. */
interface TriedEngine {
  getLlama(options: Record<string, unknown>): Promise<unknown>;
}

const [, , folder = '', slug] = argv;

/**
 * Loads the engine in the folder that is the first argument, for the processor alone, and ends with
 * 0. A program for another processor ends the process with a signal. It is a file of its own, since
 * llama forks a process with the options of this one.
 */
if (slug === 'whisper') {
  const require = createRequire(join(folder, 'package.json'));
  require(`@fugood/node-whisper-${platform}-${arch}`);
} else {
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  const engine: TriedEngine = await import(pathToFileURL(entry).href);
  await engine.getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
}
exit(0);
