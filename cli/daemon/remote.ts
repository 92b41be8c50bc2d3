import { setTimeout as sleep } from 'node:timers/promises';
import { Unreachable } from '../../src/client/errors.js';
import type { Client } from '../../src/client/index.js';
import type { Context } from '../context.js';
import { interrupted } from '../exit.js';

type LogPage = Awaited<ReturnType<Client['logs']['list']>>;

const WAIT_S = 25;
const PATIENCE_MS = (WAIT_S + 15) * 1000;
const AGAIN_MS = 1000;
const MOST = 1000;

interface LogRange {
  /** Number of the newest lines. */
  last: number;
  isFollowed: boolean;
}

/**
 * The lines of a daemon's log as its file has them, through the API; followed through restarts until
 * the signal is aborted. What is known to be missing is told on stderr.
 */
export async function* remoteLines(
  context: Context,
  { last, isFollowed }: LogRange,
): AsyncGenerator<string, void, undefined> {
  const { out, signal } = context;
  const client = (await context.listener()).with({ timeoutMs: PATIENCE_MS });
  const newest = await client.logs.list({ query: { limit: Math.min(Math.max(last, 1), MOST) } });
  if (last > 0) yield* linesOf(newest);
  for (let after = newest.lastId; isFollowed; ) {
    const page = await next(client, after, context);
    if (page?.gap) out.note('-- lines between were dropped before they could be read --');
    if (page) yield* linesOf(page);
    after = page?.lastId || after;
    if (signal.aborted) throw interrupted('The daemon goes on.');
  }
}

/** Null where the daemon is away, for the moment. */
const next = async (
  client: Client,
  after: number,
  { signal }: Context,
): Promise<LogPage | null> => {
  try {
    return await client.logs.list({ query: { after, limit: MOST, wait: WAIT_S } });
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof Unreachable)) throw error;
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    return null;
  }
};

const linesOf = ({ entries }: LogPage): string[] =>
  entries.map(({ level, at, message, data }) =>
    JSON.stringify({ level, ...(at && { at }), ...data, msg: message }),
  );
