import { text } from 'node:stream/consumers';
import { errorCode } from '../../kernel/failure.js';
import { GgufFault } from './bytes.js';
import { describeModel, type GgufHeader } from './header.js';
import { readParts } from './parts.js';

export type GgufLine = { header: GgufHeader } | { fault: string };

/** Separate process. Reads the paths of all files as JSON from stdin. */
const main = async (): Promise<void> => {
  const paths: string[] = JSON.parse(await text(process.stdin));
  process.stdout.write(`${JSON.stringify(read(paths))}\n`);
};

const read = (paths: string[]): GgufLine => {
  try {
    return { header: describeModel(readParts(paths)) };
  } catch (error) {
    const code = errorCode(error);
    if (code) return { fault: `The file cannot be read: ${code}` };
    if (!(error instanceof GgufFault)) throw error;
    return { fault: error.message };
  }
};

await main();
