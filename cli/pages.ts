import type { ObjectSchema } from 'joi';
import { ApiError } from '../src/client/errors.js';
import { valueAt } from './columns.js';
import type { Context } from './command.js';
import { requestFields } from './fields.js';
import type { Named, NamePage } from './resolve.js';

export type PageReply<K extends string, T> = Record<K, T[]> & { nextCursor: string | null };

export const namePages =
  <K extends string, T>(
    rows: K,
    read: (query: { limit: number; cursor?: string }) => Promise<PageReply<K, T>>,
    named: (row: T) => Named,
  ) =>
  async (cursor: string | undefined): Promise<NamePage> => {
    const reply = await read({ limit: 200, cursor });
    const withOrg = (row: T): Named => ({ ...named(row), orgId: valueAt(row, 'orgId') });
    return { rows: reply[rows].map(withOrg), nextCursor: reply.nextCursor };
  };

/** Concurrent requests. One signal aborts them all on ^C. */
const ASKED_AT_ONCE = 4;

/** Sends several requests, a few at a time. Returns the replies in order. */
export const requestAll = async <T, R>(
  things: readonly T[],
  ask: (thing: T) => Promise<R>,
): Promise<R[]> => {
  const replies: R[] = [];
  for (let at = 0; at < things.length; at += ASKED_AT_ONCE) {
    replies.push(...(await Promise.all(things.slice(at, at + ASKED_AT_ONCE).map(ask))));
  }
  return replies;
};

export const everyPage = async <K extends string, T>(
  key: K,
  read: (cursor?: object) => Promise<PageReply<K, T>>,
): Promise<PageReply<K, T>> => {
  const first = await read();
  const rows = [...first[key]];
  let cursor = first.nextCursor;
  while (cursor !== null) {
    const page = await read({ cursor });
    rows.push(...page[key]);
    cursor = page.nextCursor;
  }
  return { ...first, [key]: rows, nextCursor: null };
};

/** The largest page size, as part of the query. */
export const maxPageQuery = ({ query }: { query: ObjectSchema }): { limit?: number } =>
  requestFields(query).some(({ path }) => path === 'limit') ? { limit: 200 } : {};

/**
 * Reads a page, and retries after the delay that the daemon asks for: a whole list may exceed the
 * rate limit per minute.
 */
export const retryWhenLimited =
  <R>({ out, signal, clock }: Context, read: (cursor?: object) => Promise<R>) =>
  async (cursor?: object): Promise<R> => {
    for (;;) {
      try {
        return await read(cursor);
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== 429) throw error;
        const { retryAfterSeconds: seconds } = error;
        if (seconds === undefined) throw error;
        out.note(`${error.message} Waiting for the next page.`);
        await clock.wait(seconds * 1000, signal);
      }
    }
  };
