import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder in which the tests expect node-llama-cpp, as its installation makes it. */
export const LLAMA_ENGINE = fileURLToPath(new URL('../../../node_modules/.llama', import.meta.url));

/** The options of tests that run the real engine. Their titles say what they need. */
export const withEngine = {
  skip: !existsSync(join(LLAMA_ENGINE, 'node_modules/node-llama-cpp/package.json')),
  timeout: 60_000,
};
