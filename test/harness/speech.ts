import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Words that the fake hears in any speech. */
const HEARD = 'hello world';

const SCRIPT = `#!/bin/sh
echo '${HEARD}'
echo '<s> 0.000 0.100 1.000000'
echo 'hello 0.110 0.500 1.000000'
echo 'world 0.510 0.900 1.000000'
`;

/** Creates a folder with a fake PocketSphinx and returns it. */
export const placeSpeechEngine = (script = SCRIPT, name = 'adjutant-test-speech'): string => {
  const folder = join(tmpdir(), name);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'pocketsphinx_continuous');
  // Tests in several processes create it at the same time.
  writeFileSync(`${path}.${process.pid}`, script);
  chmodSync(`${path}.${process.pid}`, 0o755);
  renameSync(`${path}.${process.pid}`, path);
  return folder;
};

/** WAV file with a second of silence. */
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
