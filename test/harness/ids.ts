import { timeDigits } from '../../src/kernel/ids.js';

/**
 * Returns the 26 characters after the noun of the n-th ID of a time, for rows that are written into a
 * database as if they were old. `mint` does not serve for them: its IDs never go back behind those
 * that the same process has minted before.
 */
export const idDigits = (ms: number, n: number): string =>
  timeDigits(ms) + String(n).padStart(16, '0');
