import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const version = (): string => manifest().version;

export const supportedNode = (): string => manifest().engines.node;

const manifest = (): { version: string; engines: { node: string } } =>
  JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'));

/** Built files are at several depths. */
const packageFolder = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
};
