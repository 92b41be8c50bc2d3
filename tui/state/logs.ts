import type { Client } from '../../src/client/index.js';
import type { LogLevel, LogRow } from './rows.js';

/** Most severe last. */
export const LEVELS = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
] as const satisfies readonly LogLevel[];

const MAX_LINES = 500;

interface LogLines {
  rows: LogRow[];
  /** Number of the last line that the daemon searched, returned or not. */
  nextCursor: string;
}

/** Newest lines of a level and above, or those after a number. Missing lines become one gap row. */
export const readLogs = async (
  client: Client,
  least: string | null,
  cursor: string | undefined,
): Promise<LogLines> => {
  const after = cursor === undefined ? undefined : Number(cursor);
  const level = LEVELS.find((each) => each === least);
  const query = { after, level, limit: MAX_LINES };
  const { entries, lastId, oldestId, gap } = await client.logs.list({ query });
  const from = (after ?? 0) + 1;
  const missing: LogRow[] = gap ? [{ id: `gap ${from}`, is: 'gap', from, to: oldestId - 1 }] : [];
  const lines = entries.map((entry): LogRow => ({ id: String(entry.id), is: 'line', entry }));
  return { rows: [...missing, ...lines], nextCursor: String(lastId) };
};
