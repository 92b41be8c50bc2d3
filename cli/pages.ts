import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectSchema } from 'joi';
import { ApiError } from '../src/client/errors.js';
import type { Context } from './command.js';
import { requestFields } from './fields.js';
import type { Named, NamePage } from './resolve.js';

export type PageReply<K extends string, T> = Record<K, T[]> & { nextCursor: string | null };

/** The pages of a list, for the words that name its rows. */
export const namePages =
  <K extends string, T>(
    rows: K,
    read: (query: { limit: number; cursor?: string }) => Promise<PageReply<K, T>>,
    named: (row: T) => Named,
  ) =>
  async (cursor: string | undefined): Promise<NamePage> => {
    const reply = await read({ limit: 200, cursor });
    return { rows: reply[rows].map(named), nextCursor: reply.nextCursor };
  };

/** Ours: the number of requests at a time, all of which hear of ^C by the one signal. */
const ASKED_AT_ONCE = 4;

/** Asks about each of several things, a few at a time; the answers in their order. */
export const askAll = async <T, R>(
  things: readonly T[],
  ask: (thing: T) => Promise<R>,
): Promise<R[]> => {
  const replies: R[] = [];
  for (let at = 0; at < things.length; at += ASKED_AT_ONCE) {
    replies.push(...(await Promise.all(things.slice(at, at + ASKED_AT_ONCE).map(ask))));
  }
  return replies;
};

/** All pages as one. */
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

/** The largest page of a list, as a part of its query. */
export const longestPage = ({ query }: { query: ObjectSchema }): { limit?: number } =>
  requestFields(query).some(({ path }) => path === 'limit') ? { limit: 200 } : {};

/**
 * Reads a page. Where the daemon asks to wait, it is read after that time: all of a list may be more
 * than a user may ask for in a minute.
 */
export const inPace =
  <R>({ out, signal }: Context, read: (cursor?: object) => Promise<R>) =>
  async (cursor?: object): Promise<R> => {
    for (;;) {
      try {
        return await read(cursor);
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== 429) throw error;
        const { retryAfterSeconds: seconds } = error;
        if (seconds === undefined) throw error;
        out.note(`${error.message} The next page is read then.`);
        await pause(seconds * 1000, undefined, { signal });
      }
    }
  };
