import { timeDigits } from '../../src/kernel/ids.js';

/**
 * The 26 characters of the n-th id of a time, for backdated rows. `mint` cannot create them: its
 * ids never go back behind earlier ones of the process.
 */
export const idDigits = (ms: number, n: number): string =>
  timeDigits(ms) + String(n).padStart(16, '0');
