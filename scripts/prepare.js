import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start } from './child.js';
import { compile } from './compile.js';
import { install } from './install.js';
import { withLock } from './lock.js';
import { ensureRuntime } from './runtime.js';

export const root = fileURLToPath(new URL('..', import.meta.url));

await start(ensureRuntime);

/** Installs and builds only what is missing or stale. */
export const prepare = () =>
  // In dist, because npm empties node_modules when it installs.
  withLock(join(root, 'dist/.lock'), async () => {
    await install(root);
    await compile(root);
  });
