import { resolve } from 'node:path';
import { start } from './child.js';
import { prepare } from './prepare.js';

await start(prepare);
// The program expects its path and arguments where Node puts them.
process.argv.splice(1, 1);
await import(resolve(process.argv[1]));
