import { mkdir, rm } from 'node:fs/promises';
import { installPackages } from '../../src/capabilities/npm.js';
import { ENGINES, enginePackages } from '../../src/capabilities/packages.js';
import { engineFolder } from './llamaengine.js';

/** Installs the test engines from the shipped lock files, like a real installation. */
const host = { platform: process.platform, arch: process.arch, isGlibc: true, gpus: [] };
const folders = (process.env.PATH ?? '').split(':');
for (const engine of ENGINES) {
  const packages = enginePackages(engine, host);
  if ('unsupported' in packages) throw new Error(packages.unsupported);
  const folder = engineFolder(engine.slug);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await installPackages(folder, packages, { folders, signal: AbortSignal.timeout(600_000) });
  console.log(`${engine.slug} is at ${folder}`);
}
