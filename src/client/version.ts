import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the version of this package. */
export const version = (): string => manifest().version;

/** Returns the versions of Node that the package supports: `>=22.14`. */
export const supportedNode = (): string => manifest().engines.node;

const manifest = (): { version: string; engines: { node: string } } =>
  JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'));

/**
 * Returns the nearest folder above that has a package.json: the built files lie at several depths.
 */
const packageFolder = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
};
