import { join } from 'node:path';
import { run, start } from './child.js';
import { prepare, root } from './prepare.js';

/**
 * What `npm start` does: make ready, prove the main job once, then become the daemon, in this very
 * process so that a signal sent to `npm start` reaches it.
 */
const main = async () => {
  await prepare();
  const executable = join(root, 'bin/adjutant.js');
  const code = await run(process.execPath, [executable, 'demo'], { stdio: 'inherit' });
  if (code !== 0) throw new Error('the proof of the main job failed, so nothing is served');
  const cli = await import('../dist/commands/main.js');
  await cli.main([process.execPath, executable, 'serve', ...process.argv.slice(2)]);
};

await start(main);
