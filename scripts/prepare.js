import '../bin/version.js';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from './compile.js';
import { install } from './install.js';
import { withLock } from './lock.js';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Installs and builds what is missing or stale, and nothing else. */
export const prepare = () =>
  // In dist, because npm empties node_modules when it installs.
  withLock(join(root, 'dist/.lock'), async () => {
    await install(root);
    await compile(root);
  });
