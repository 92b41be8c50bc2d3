import { createRequire } from 'node:module';
import Joi from 'joi';
import { runDaemon } from '../../src/main.js';

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/;

// Creates the schemas that joi uses to validate itself.
Joi.checkPreferences({});
const { object } = Joi;
let made = 0;
Object.assign(Joi, {
  object: (...given: unknown[]) => {
    made += given.length;
    return Reflect.apply(object, Joi, given);
  },
});

/**
 * The daemon. Before it reports its address, it prints the loaded CommonJS packages and the number
 * of object schemas.
 */
const loaded = (): string[] => {
  const files = Object.keys(createRequire(import.meta.url).cache);
  const packages = files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []);
  return [...new Set(packages)].sort();
};

await runDaemon({}, (line) => {
  if (line.startsWith('  listening')) {
    console.log(`loaded ${loaded().join(' ')}`);
    console.log(`made ${made}`);
  }
  console.log(line);
});
