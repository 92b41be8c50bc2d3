import { createRequire } from 'node:module';
import { serve } from '../../src/main.js';

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/;

/** The daemon, saying before it says that it listens which CommonJS packages it has loaded by then. */
const loaded = (): string[] => {
  const files = Object.keys(createRequire(import.meta.url).cache);
  const packages = files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []);
  return [...new Set(packages)].sort();
};

await serve({}, (line) => {
  if (line.startsWith('  listening')) console.log(`loaded ${loaded().join(' ')}`);
  console.log(line);
});
