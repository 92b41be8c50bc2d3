import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SERVE = fileURLToPath(new URL('../harness/serve.js', import.meta.url));
/** Prints the files that were loaded one by one. */
const REPORT = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire(process.cwd() + '/');
  process.once('exit', () => console.error(JSON.stringify(Object.keys(cache))));`;
const PRELOAD = `data:text/javascript,${encodeURIComponent(REPORT)}`;

describe('bundle of the daemon', () => {
  it('has all packages that a start loads, except those with machine code', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-bundle-'));
    const daemon = await startDaemon({ home, entry: ['--import', PRELOAD, SERVE] });
    const { stderr } = await daemon.end('SIGTERM');
    await rm(home, { recursive: true });
    expect(packagesIn(stderr)).to.equal(['better-sqlite3', 'sqlite-vec']);
  });
});

const packagesIn = (output: string): string[] => [
  ...new Set(
    [...output.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(([, name = '']) => name),
  ),
];
