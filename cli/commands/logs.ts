import { Unreachable } from '../../src/client/errors.js';
import type { Client } from '../../src/client/index.js';
import { type Context, command, type Flag, switchFlag } from '../command.js';

import { isLocalUrl, resolveHome } from '../daemon/environment.js';
import {
  followLog,
  formatLogLine,
  getDaemonLogPath,
  getFileSize,
  lastLines,
  logLineAsJson,
} from '../daemon/log.js';
import { failed, interrupted, usageFault } from '../exit.js';

const LAST = 50;

const last: Flag<number> = {
  value: '<count>',
  about: `Number of newest lines to print. Defaults to ${LAST}. 0 prints none. With --remote, at most 1000 lines are printed`,
  read: (input) => {
    if (/^\d{1,7}$/.test(input)) return Number(input);
    throw usageFault(`--last must be a whole number of lines (got "${input}")`);
  },
};

export const logsCommand = command({
  name: 'logs',
  calls: ['logs list'],
  summary: 'Show the log of the background daemon',
  examples: ['', '-f', '--last 1000 | grep failed', '--remote -f'],
  flags: {
    follow: { ...switchFlag('Print new lines until ^C'), short: '-f' },
    last,
    remote: switchFlag('Request the log from the daemon instead of reading the file (admin)'),
  },
  notes: [
    'In a pipe: one JSON object per line. The file is <home>/logs/daemon.log.',
    'A daemon on another machine returns at most its newest 1,000 lines, to admins only.',
  ],
  seeAlso: 'status, doctor',
  run: async (context, { flags }) => {
    if (flags.remote || !isLocalUrl(context.url)) {
      const wanted = { last: flags.last ?? LAST, isFollowed: flags.follow === true };
      for await (const line of remoteLines(context, wanted)) print(context, line);
      return;
    }
    const path = getDaemonLogPath(resolveHome(context.flags.home));
    if (!flags.follow && getFileSize(path) === 0) throw noLog(path);
    const { lines, end } = lastLines(path, flags.last ?? LAST);
    for (const line of lines) print(context, line);
    if (!flags.follow) return;
    for await (const line of followLog(path, end, context.signal)) print(context, line);
  },
});

const noLog = (path: string): Error =>
  failed(
    `No log yet: ${path} is empty or missing.`,
    'Only a background daemon writes this log. Start the daemon: adjutant up',
  );

const print = ({ out }: Context, line: string): void =>
  out.line(out.format === 'table' ? formatLogLine(line) : logLineAsJson(line));

type LogPage = Awaited<ReturnType<Client['logs']['list']>>;

const WAIT_S = 25;
const PATIENCE_MS = (WAIT_S + 15) * 1000;
const AGAIN_MS = 1000;
const MAX_LINES = 1000;

interface LogRange {
  last: number;
  isFollowed: boolean;
}

/**
 * Yields log lines from the API in the form of the log file, and follows restarts until the
 * signal is aborted. Gaps are reported on stderr.
 */
async function* remoteLines(
  context: Context,
  { last, isFollowed }: LogRange,
): AsyncGenerator<string, void, undefined> {
  const { out, signal } = context;
  const client = (await context.listener()).with({ timeoutMs: PATIENCE_MS });
  const newest = await client.logs.list({
    query: { limit: Math.min(Math.max(last, 1), MAX_LINES) },
  });
  if (last > 0) yield* formatLogEntries(newest);
  for (let after = newest.lastId; isFollowed; ) {
    const page = await next(client, after, context);
    if (page?.gap) out.note('-- lines are missing: they were dropped before they could be read --');
    if (page) yield* formatLogEntries(page);
    after = page?.lastId || after;
    if (signal.aborted) throw interrupted('The daemon continues to run.');
  }
}

/** Reads lines from the API. null: the daemon is temporarily unreachable. */
const next = async (
  client: Client,
  after: number,
  { signal, clock }: Context,
): Promise<LogPage | null> => {
  try {
    return await client.logs.list({ query: { after, limit: MAX_LINES, wait: WAIT_S } });
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof Unreachable)) throw error;
    await clock.wait(AGAIN_MS, signal).catch(() => undefined);
    return null;
  }
};

const formatLogEntries = ({ entries }: LogPage): string[] =>
  entries.map(({ level, at, message, data }) =>
    JSON.stringify({ level, ...(at && { at }), ...data, msg: message }),
  );
