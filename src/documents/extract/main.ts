import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { extractorOf } from './extractors.js';
import { ExtractFailed, type ExtractJob, type ExtractLine } from './job.js';
import { openRecognizer } from './recognizer.js';
import { openExtraction } from './session.js';

/**
 * Extracts the text of one file, in a process of its own. Reads one ExtractJob from its standard
 * input and writes one ExtractLine after the other.
 */
const main = async (): Promise<void> => {
  // Libraries write what they wonder about there, which would stand among our lines.
  console.log = console.error;
  const job: ExtractJob = JSON.parse(await text(process.stdin));
  const recognizer = openRecognizer(job);
  try {
    const { extraction, notes } = openExtraction(job, { write, recognizer });
    const extract = await extractorOf(job.mediaType);
    await extract(await readFile(job.path), extraction);
    write({ end: { notes: notes() } });
  } catch (error) {
    const { code, message } = error instanceof ExtractFailed ? error : damaged(error);
    write({ failed: { code, message } });
  }
  // The reader of the last line ends this process, so that no line is lost. Threads of the
  // recognition may still be at work on a page that took too long.
  setTimeout(() => process.exit(0), LEFT_MS);
};

/** Ours: the time in milliseconds after which a process that nobody has ended does so itself. */
const LEFT_MS = 60_000;

const write = (line: ExtractLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const damaged = (error: unknown): ExtractFailed => {
  const reason = error instanceof Error ? error.message : String(error);
  return new ExtractFailed('damaged', `The file cannot be read: ${reason.slice(0, 300)}`);
};

await main();
