import Boom from '@hapi/boom';
import { sql } from 'kysely';
import { type Clock, iso } from '../../kernel/clock.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Outbox } from '../../outbound/module.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { codeFailuresTable } from '../../store/tables/accounts.js';

/** The subject for which codes are counted, whatever the address. */
export interface CodeHolder {
  userId: string;
  name: string;
  /** False if the codes belong to a login. */
  isLoggedIn: boolean;
}

const MAX_WRONG = 10;
const WINDOW_MS = 5 * 60 * 1000;
const MAX_LOCK_MS = 3600 * 1000;
/** 5, 10, 20, 40 minutes, then an hour. A right code or a day without a wrong one resets it. */
const lockMs = (locks: number): number => Math.min(MAX_LOCK_MS, WINDOW_MS * 2 ** locks);

interface TriesDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toOwner'>;
}

/** Limits wrong codes: after ten in five minutes, no code is checked for a while. */
export const createCodeTries = (deps: TriesDeps) => {
  const { store, clock } = deps;
  const { db } = store;
  const tries = {
    /** Counts a code before it is checked. Throws 429 `too_many_codes` if it must not be checked. */
    take: async (holder: CodeHolder): Promise<void> => {
      if (await isCounted(deps, holder)) return;
      const row = await find(store, holder);
      // A right code in between has reset the counter.
      if (!row) return tries.take(holder);
      await notifyOwner(deps, holder);
      const until = row.locked_until ?? iso(Date.parse(row.since) + WINDOW_MS);
      throw tooManyCodes(Math.max(1, Math.ceil((Date.parse(until) - clock.now()) / 1000)));
    },

    /** The tenth wrong code locks the holder. */
    failed: async (holder: CodeHolder): Promise<void> => {
      const row = await find(store, holder);
      if (!row || row.count < MAX_WRONG) return;
      const locked_until = iso(clock.now() + lockMs(row.locks));
      await updateRows(db, codeFailuresTable, { holder: holder.name, locks: row.locks })
        .set({ count: 0, locks: row.locks + 1, locked_until })
        .execute();
    },

    /** Resets the counter after a right code. */
    forget: async ({ name }: CodeHolder): Promise<void> => {
      await db.deleteFrom('code_failures').where('holder', '=', name).execute();
    },
  };
  return tries;
};

export type CodeTries = ReturnType<typeof createCodeTries>;

const find = ({ db }: Store, { name }: CodeHolder) =>
  selectRows(db, codeFailuresTable, { holder: name }).executeTakeFirst();

/** The statement that counts also checks the limit, so that only ten of many concurrent codes pass. */
const isCounted = ({ store, clock }: TriesDeps, { userId, name }: CodeHolder): Promise<boolean> => {
  const now = iso(clock.now());
  const over = iso(clock.now() - WINDOW_MS);
  const isOver = sql<boolean>`code_failures.since <= ${over} OR code_failures.locked_until IS NOT NULL`;
  const insert = store.db
    .insertInto('code_failures')
    .values({
      holder: name,
      user_id: userId,
      count: 1,
      since: now,
      locked_until: null,
      told_at: null,
    })
    .onConflict((on) =>
      on
        .column('holder')
        .doUpdateSet({
          count: sql`iif(${isOver}, 1, code_failures.count + 1)`,
          since: sql`iif(${isOver}, ${now}, code_failures.since)`,
          locked_until: null,
        })
        .where(sql<boolean>`coalesce(code_failures.locked_until, '') <= ${now}`)
        .where(sql<boolean>`(${isOver} OR code_failures.count < ${MAX_WRONG})`),
    );
  return store.tryTransact([statement(insert, 1)]);
};

/** Notifies once, until a right code or a day without a wrong one. */
const notifyOwner = async (
  { store, clock, outbox }: TriesDeps,
  { userId, name, isLoggedIn }: CodeHolder,
): Promise<void> => {
  const message = outbox.toOwner(userId, {
    kind: 'login.codes',
    title: isLoggedIn
      ? 'Somebody who is logged in as you is guessing codes of your authenticator app'
      : 'Somebody has your password and is guessing codes of your authenticator app',
    body:
      `${MAX_WRONG} wrong codes were entered within five minutes. Codes are refused for a while; a recovery ` +
      'code or a passkey still works. If this was not you, change your password: adjutant auth password',
    link: pageLink('device'),
  });
  const mark = updateRows(store.db, codeFailuresTable, { holder: name, told_at: null }).set({
    told_at: iso(clock.now()),
  });
  if (await store.tryTransact([statement(mark, 1), ...message.statements])) {
    message.published();
  }
};

const tooManyCodes = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many wrong codes. Try again in ${retryAfter} s`, {
    code: 'too_many_codes',
    retryAfter,
  });
