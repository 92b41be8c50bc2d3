import { isReadAloud } from '../../src/client/session.js';
import type { Streams } from '../context.js';

export interface BackupStep {
  stage: string;
  done: number;
  /** 0 where nobody knows. */
  total: number;
}

const CLEAR_LINE = '\r\u001b[K';
const SAID: Record<string, string> = {
  database: 'Copying the database',
  files: 'Writing',
  digests: 'Reading',
  copy: 'Copying',
  checks: 'Checking the database',
  drill: 'Starting the copy',
};

/** `318 MB`, `0.5 MB`. */
export const megabytes = (bytes: number): string => {
  const size = bytes / 1e6;
  return `${size >= 10 ? Math.round(size) : size.toFixed(1)} MB`;
};

/** One line on a terminal that says how far something is; nothing in a pipe. */
export const progressLine = (stderr: Streams['stderr']) =>
  isReadAloud() ? stageLines(stderr) : rewrittenLine(stderr);

const rewrittenLine = (stderr: Streams['stderr']) => ({
  show: ({ stage, done, total }: BackupStep): void => {
    if (!stderr.isTTY) return;
    const size = total > 0 ? `${megabytes(done)} of ${megabytes(total)}` : megabytes(done);
    stderr.write(`${CLEAR_LINE}${SAID[stage] ?? stage}… ${done > 0 ? size : ''}`);
  },
  clear: (): void => {
    if (stderr.isTTY) stderr.write(CLEAR_LINE);
  },
});

/** Progress for a screen reader: each stage once, when it begins. */
const stageLines = (stderr: Streams['stderr']) => {
  let last = '';
  return {
    show: ({ stage }: BackupStep): void => {
      if (stderr.isTTY && stage !== last) stderr.write(`${SAID[stage] ?? stage}…\n`);
      last = stage;
    },
    clear: (): void => {},
  };
};
