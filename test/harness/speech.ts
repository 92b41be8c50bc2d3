import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The words that the stand-in hears in all that is speech. */
const HEARD = 'hello world';

const SCRIPT = `#!/bin/sh
echo '${HEARD}'
echo '<s> 0.000 0.100 1.000000'
echo 'hello 0.110 0.500 1.000000'
echo 'world 0.510 0.900 1.000000'
`;

/** Makes a folder with a stand-in for PocketSphinx; returns the folder. */
export const placeSpeechEngine = (script = SCRIPT, name = 'adjutant-test-speech'): string => {
  const folder = join(tmpdir(), name);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'pocketsphinx_continuous');
  // Tests of several processes make it at the same time.
  writeFileSync(`${path}.${process.pid}`, script);
  chmodSync(`${path}.${process.pid}`, 0o755);
  renameSync(`${path}.${process.pid}`, path);
  return folder;
};

/** A WAV file of a second without a sound. */
export const silentWav = (): Buffer => {
  const samples = 16_000 * 2;
  const head = Buffer.from(
    'UklGRgAAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=',
    'base64',
  );
  head.writeUInt32LE(samples + 36, 4);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples)]);
};
