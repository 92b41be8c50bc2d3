import { mkdir, rm } from 'node:fs/promises';
import { installPackages } from '../../src/capabilities/npm.js';
import { llamaPackages } from '../../src/capabilities/packages.js';
import { LLAMA_ENGINE } from './llamaengine.js';

/** Installs the engine for the tests, from the lock file that ships and as an installation does. */
const packages = llamaPackages({
  platform: process.platform,
  arch: process.arch,
  isGlibc: true,
  gpus: [],
});
if ('unsupported' in packages) throw new Error(packages.unsupported);
await rm(LLAMA_ENGINE, { recursive: true, force: true });
await mkdir(LLAMA_ENGINE, { recursive: true });
const folders = (process.env.PATH ?? '').split(':');
await installPackages(LLAMA_ENGINE, packages, { folders, signal: AbortSignal.timeout(600_000) });
console.log(`the engine is at ${LLAMA_ENGINE}`);
