import { readFileSync } from 'node:fs';

/** The package's own version, from the package.json beside `dist`. */
export const version: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
