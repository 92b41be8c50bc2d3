import { existsSync } from 'node:fs';
import { WorkerFailed, type Workers } from '../operations/module.js';
import type { ExtractCode, ExtractJob, ExtractLine } from './extract/job.js';
import { addedLanguageFolder } from './extract/languages.js';

export type ProgressLine = Exclude<ExtractLine, { failed: unknown } | { end: unknown }>;

/** `notes` are sentences about missing parts. */
export interface ExtractEnd {
  failure: { code: ExtractCode; message: string } | null;
  notes: string[];
}

interface Extract {
  userId: string;
  job: ExtractJob;
  signal: AbortSignal;
  take(line: ProgressLine): Promise<void>;
}

const SCRIPT = new URL('./extract/main.js', import.meta.url);
const PACKAGES = [
  ...['pdfjs-dist/package.json', 'tesseract.js', 'officeparser', 'linkedom', 'yauzl'],
  ...['postal-mime', 'utif2', 'image-size', 'file-type', '@napi-rs/canvas'],
  '@tesseract.js-data/eng/package.json',
];
export const EXTRACT_LIMITS: ExtractJob['limits'] = {
  pages: 5000,
  ocrPages: 500,
  pixels: 40_000_000,
  pageChars: 1_000_000,
  chars: 60_000_000,
  ocrMs: 120_000,
  unpackedBytes: 300 * 1024 * 1024,
};
/** Maximum time without output, in milliseconds. A scanned page is tried in four orientations. */
const SILENCE_MS = 60_000;
const RECOGNITION_SILENCE_MS = 4 * EXTRACT_LIMITS.ocrMs + SILENCE_MS;
const HAS_PICTURES = /^(application\/pdf|image\/.*|message\/rfc822)$/;

const addedFolders = ({ languages, addedLanguages }: ExtractJob): string[] =>
  addedLanguages === undefined
    ? []
    : languages.map((code) => addedLanguageFolder(addedLanguages, code)).filter(existsSync);

const REMEDIES: Record<ExtractCode, string> = {
  password_needed:
    'Remove the password from the file. An uploaded PDF file can also be reprocessed with the password',
  damaged: 'Use an intact copy of the file',
  too_large: 'Reduce or split the file and save it again',
  unsupported: 'Convert the file to PDF or plain text',
};

/** The cause and the next step. */
export const describeFailure = ({ code, message }: NonNullable<ExtractEnd['failure']>): string =>
  `${message}. ${REMEDIES[code]}`;

/** Runs in a separate process. Throws the reason of the signal. */
export const extractInWorker = async (
  workers: Workers,
  { userId, job, signal, take }: Extract,
): Promise<ExtractEnd> => {
  const end: ExtractEnd = { failure: null, notes: [] };
  try {
    await workers.run<ExtractLine>({
      userId,
      script: SCRIPT,
      input: job,
      readable: [job.path, ...addedFolders(job)],
      packages: PACKAGES,
      silenceMs: HAS_PICTURES.test(job.mediaType) ? RECOGNITION_SILENCE_MS : SILENCE_MS,
      signal,
      take: async (line) => {
        if ('failed' in line) end.failure = line.failed;
        else if ('end' in line) end.notes = line.end.notes;
        else await take(line);
        return 'failed' in line || 'end' in line;
      },
    });
  } catch (error) {
    if (!(error instanceof WorkerFailed)) throw error;
    end.failure = {
      code: 'too_large',
      message: `The file is too large or too complex: ${error.message}`,
    };
  }
  return end;
};
