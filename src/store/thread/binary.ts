import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The native binary of SQLite is missing, or needs newer system libraries. Null for other errors.
 */
export const binaryFault = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const why = getLoadFailureReason(error);
  if (why === null) return null;
  const folder = dirname(fileURLToPath(import.meta.resolve('better-sqlite3/package.json')));
  return (
    `The SQLite binary ${why}. Reinstall Adjutant, or compile it (requires python3, make and a C++ compiler): ` +
    `cd ${folder} && npx node-gyp rebuild --release --force_build=1`
  );
};

const getLoadFailureReason = ({ message, code }: Error & { code?: string }): string | null => {
  const machine = `${process.platform}-${process.arch} with Node ${process.version}`;
  if (code === 'ERR_DLOPEN_FAILED') return `does not load on ${machine}`;
  if (code === 'MODULE_NOT_FOUND' && message.includes('better_sqlite3.node')) {
    return `is missing for ${machine}`;
  }
  return null;
};
