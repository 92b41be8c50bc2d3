import { join } from 'node:path';
import { run } from './child.js';
import { root } from './prepare.js';

/** Runs Biome in a supported Node: `biome.js check .`. */
const program = join(root, 'node_modules/@biomejs/biome/bin/biome');
process.exitCode = await run(process.execPath, [program, ...process.argv.slice(2)]);
