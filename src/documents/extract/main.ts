import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../kernel/clock.js';
import { errorReason } from '../../kernel/failure.js';
import { loadExtractor } from './extractors.js';
import { ExtractFailed, type ExtractJob, type ExtractLine } from './job.js';
import { openRecognizer } from './recognizer.js';
import { openExtraction } from './session.js';

/**
 * Extracts the text of one file in a separate process: reads an ExtractJob from standard input and
 * writes ExtractLines to standard output.
 */
const main = async (): Promise<void> => {
  // Libraries log to standard output, which would mix with the protocol.
  console.log = console.error;
  const job: ExtractJob = JSON.parse(await text(process.stdin));
  const recognizer = openRecognizer(job);
  try {
    const { extraction, notes } = openExtraction(job, { write, recognizer });
    const extract = await loadExtractor(job.mediaType);
    await extract(await readFile(job.path), extraction);
    write({ end: { notes: notes() } });
  } catch (error) {
    const { code, message } = error instanceof ExtractFailed ? error : damaged(error);
    write({ failed: { code, message } });
  }
  // The reader of the last line ends this process, so that no line is lost. Recognition threads may
  // still be running after a timeout.
  systemClock.after(LEFT_MS, () => process.exit(0));
};

/** Time after which the process ends itself, in milliseconds. */
const LEFT_MS = 60_000;

const write = (line: ExtractLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const damaged = (error: unknown): ExtractFailed =>
  new ExtractFailed('damaged', `The file cannot be read: ${errorReason(error).slice(0, 300)}`);

await main();
