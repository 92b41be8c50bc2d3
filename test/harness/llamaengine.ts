import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const engineFolder = (slug: string): string =>
  fileURLToPath(new URL(`../../../node_modules/.${slug}`, import.meta.url));

export const LLAMA_ENGINE = engineFolder('llama');
export const WHISPER_ENGINE = engineFolder('whisper');

/** Options of tests that run the real engine. Their titles name the requirement. */
export const withEngine = {
  skip: !existsSync(join(LLAMA_ENGINE, 'node_modules/node-llama-cpp/package.json')),
};

/** Options of tests that run whisper.cpp. */
export const withWhisper = {
  skip: !existsSync(join(WHISPER_ENGINE, 'node_modules/@fugood/whisper.node/package.json')),
};
