import { readFileSync } from 'node:fs';

/** From the package.json beside `dist`. */
export const version: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
