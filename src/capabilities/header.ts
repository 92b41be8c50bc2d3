import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { WorkerFailed, type Workers } from '../operations/module.js';
import type { GgufHeader } from '../providers/gguf/header.js';
import type { GgufLine } from '../providers/gguf/main.js';
import { partsOf } from '../providers/gguf/parts.js';

/** A model's header, or a sentence that says why its files cannot be read. */
export type HeaderReading = { header: GgufHeader; fault: null } | { header: null; fault: string };

interface HeaderRequest {
  /** The user whose turn it is in the queue of heavy work. */
  userId: string;
  /** The absolute path of the file, or of any part of a model in several files. */
  path: string;
  signal: AbortSignal;
}

const SCRIPT = new URL('../providers/gguf/main.js', import.meta.url);
/** Ours: the longest time in milliseconds for one header. The largest take 0.3 seconds. */
const READING_MS = 10_000;

/** Reads the header of a GGUF model in a process of its own. Throws the reason of the signal. */
export const readHeader = async (
  workers: Workers,
  { userId, path, signal }: HeaderRequest,
): Promise<HeaderReading> => {
  const paths = partsOf(path);
  const missing = paths.find((each) => !existsSync(each));
  if (missing) return { header: null, fault: `The file ${basename(missing)} is missing` };
  let reading: HeaderReading = { header: null, fault: 'The header was not read' };
  try {
    await workers.run<GgufLine>({
      userId,
      script: SCRIPT,
      input: paths,
      readable: paths,
      packages: [],
      silenceMs: READING_MS,
      signal,
      take: async (line) => {
        reading = 'header' in line ? { ...line, fault: null } : { header: null, ...line };
        return true;
      },
    });
  } catch (error) {
    if (!(error instanceof WorkerFailed)) throw error;
    return { header: null, fault: `The header cannot be read: ${error.message}` };
  }
  return reading;
};
