import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './sources.js';

export const LIBRARIES = ['kernel', 'store', 'providers'];

const opener = readFileSync(join(projectRoot(), 'src/modules.ts'), 'utf8');
const openedIn = (text: string): string[] =>
  [...text.matchAll(/\bopen([A-Z]\w+)(?=\()/g)].map(([, name = '']) => name.toLowerCase());

/** Modules that need only the base, and that no other module needs. */
export const independent = openedIn(/const independent = \[(.*?)\];/s.exec(opener)?.[1] ?? '');

/** Modules of the server in opening order. Each imports only earlier ones. */
export const modules = [...LIBRARIES, ...openedIn(opener)];
