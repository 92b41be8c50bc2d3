import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './sources.js';

/** Modules without a face: small tools, the database, and the protocols of other services. */
export const LIBRARIES = ['kernel', 'store', 'providers'];

const opener = readFileSync(join(projectRoot(), 'src/modules.ts'), 'utf8');
const openedIn = (text: string): string[] =>
  [...text.matchAll(/\bopen([A-Z]\w+)(?=\()/g)].map(([, name = '']) => name.toLowerCase());

/** The modules that need the base alone, and that no other module needs. */
export const independent = openedIn(/const independent = \[(.*?)\];/s.exec(opener)?.[1] ?? '');

/**
 * The modules of the server in the order in which they are opened. Each imports of those before it
 * alone.
 */
export const modules = [...LIBRARIES, ...openedIn(opener)];
