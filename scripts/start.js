import { join } from 'node:path';
import { run, start } from './child.js';
import { prepare, root } from './prepare.js';

/**
 * Script of `npm start`: builds, runs the demo, then becomes the daemon in the same process, so
 * that signals sent to `npm start` reach it.
 */
const main = async () => {
  await prepare();
  const executable = join(root, 'bin/adjutant.js');
  const code = await run(process.execPath, [executable, 'demo'], { stdio: 'inherit' });
  if (code !== 0) throw new Error('the demo failed, so the daemon was not started');
  const cli = await import('../dist/commands/main.js');
  await cli.main([process.execPath, executable, 'serve', ...process.argv.slice(2)]);
};

await start(main);
