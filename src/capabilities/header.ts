import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { WorkerFailed, type Workers } from '../operations/module.js';
import type { GgufHeader } from '../providers/gguf/header.js';
import type { GgufLine } from '../providers/gguf/main.js';
import { listGgufParts } from '../providers/gguf/parts.js';

export type HeaderReading = { header: GgufHeader; fault: null } | { header: null; fault: string };

interface HeaderRequest {
  /** User whose turn it is in the queue of heavy work. */
  userId: string;
  /** Absolute path of the file, or of any part. */
  path: string;
  signal: AbortSignal;
}

const SCRIPT = new URL('../providers/gguf/main.js', import.meta.url);
/** The largest headers take 0.3 seconds. */
const READING_MS = 10_000;

/** Runs in a separate process. Throws the reason of the signal. */
export const readHeader = async (
  workers: Workers,
  { userId, path, signal }: HeaderRequest,
): Promise<HeaderReading> => {
  const paths = listGgufParts(path);
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
