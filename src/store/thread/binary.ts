import { fileURLToPath } from 'node:url';

/**
 * Returns the remedy if SQLite's native binary does not load: it was built for another Node or
 * machine, or its install script was never run. Null: it is another error.
 */
export const binaryFault = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const why = reasonOf(error);
  if (why === null) return null;
  const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');
  return (
    `The database's binary ${why}. Run: cd ${root} && npm rebuild better-sqlite3 ` +
    '--ignore-scripts=false --allow-scripts=better-sqlite3'
  );
};

const reasonOf = ({ message, ...rest }: Error & { code?: string }): string | null => {
  if (message.startsWith('Could not locate the bindings file')) {
    return 'was never built: its install script did not run';
  }
  if (message.includes('NODE_MODULE_VERSION'))
    return `was built for another Node than ${process.version}`;
  if (rest.code === 'ERR_DLOPEN_FAILED')
    return `does not load on this machine with Node ${process.version}`;
  return null;
};
