import { createRequire } from 'node:module';
import { join } from 'node:path';
import { arch, argv, exit, platform } from 'node:process';
import { pathToFileURL } from 'node:url';

interface TestedEngine {
  getLlama(options: Record<string, unknown>): Promise<unknown>;
}

const [, , folder = '', slug] = argv;

/**
 * Loads the engine in the folder of the first argument on the CPU and exits with 0. A binary for
 * another processor ends with a signal. A separate file, since llama forks a process with the
 * options of this one.
 */
if (slug === 'whisper') {
  const require = createRequire(join(folder, 'package.json'));
  require(`@fugood/node-whisper-${platform}-${arch}`);
} else {
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  const engine: TestedEngine = await import(pathToFileURL(entry).href);
  await engine.getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error' });
}
exit(0);
