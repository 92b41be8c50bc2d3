import Boom from '@hapi/boom';
import { sql } from 'kysely';
import { type Clock, iso } from '../../kernel/clock.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Outbox } from '../../outbound/module.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { codeFailuresTable } from '../../store/tables/accounts.js';

/** The holder whose codes are counted: one count for each holder, whatever the address. */
export interface CodeHolder {
  userId: string;
  name: string;
  /** True if the codes come from a user who is logged in, false if they belong to a login. */
  isLoggedIn: boolean;
}

const MOST = 10;
const WINDOW_MS = 5 * 60 * 1000;
const MAX_LOCK_MS = 3600 * 1000;
/**
 * Returns the duration of a lock. Ours: 5, 10, 20, 40 minutes, then an hour; a right code or a day
 * without a wrong one resets it.
 */
const lockMs = (locks: number): number => Math.min(MAX_LOCK_MS, WINDOW_MS * 2 ** locks);

interface TriesDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toOwner'>;
}

/** Makes the limit for wrong codes: after ten in five minutes, no code is checked for a while. */
export const createCodeTries = (deps: TriesDeps) => {
  const { store, clock } = deps;
  const { db } = store;
  const tries = {
    /**
     * Counts a code before it is checked. Replies with 429 `too_many_codes` if it is not checked at
     * all, right or wrong.
     */
    take: async (holder: CodeHolder): Promise<void> => {
      if (await isCounted(deps, holder)) return;
      const row = await find(store, holder);
      // A right code came in between, so that the count was reset.
      if (!row) return tries.take(holder);
      await tell(deps, holder);
      const until = row.locked_until ?? iso(Date.parse(row.since) + WINDOW_MS);
      throw tooManyCodes(Math.max(1, Math.ceil((Date.parse(until) - clock.now()) / 1000)));
    },

    /** Records that the code was wrong; the tenth locks the holder. */
    failed: async (holder: CodeHolder): Promise<void> => {
      const row = await find(store, holder);
      if (!row || row.count < MOST) return;
      const locked_until = iso(clock.now() + lockMs(row.locks));
      await updateRows(db, codeFailuresTable, { holder: holder.name, locks: row.locks })
        .set({ count: 0, locks: row.locks + 1, locked_until })
        .execute();
    },

    /** Records that the code was right, which resets the count. */
    forget: async ({ name }: CodeHolder): Promise<void> => {
      await db.deleteFrom('code_failures').where('holder', '=', name).execute();
    },
  };
  return tries;
};

export type CodeTries = ReturnType<typeof createCodeTries>;

const find = ({ db }: Store, { name }: CodeHolder) =>
  selectRows(db, codeFailuresTable, { holder: name }).executeTakeFirst();

/**
 * Counts a code in the statement that checks the limit, so that only ten of many simultaneous ones
 * pass.
 */
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
        .where(sql<boolean>`(${isOver} OR code_failures.count < ${MOST})`),
    );
  return store.tryTransact([statement(insert, 1)]);
};

/** Notifies the user once, until a right code or a day without a wrong one. */
const tell = async (
  { store, clock, outbox }: TriesDeps,
  { userId, name, isLoggedIn }: CodeHolder,
): Promise<void> => {
  const message = outbox.toOwner(userId, {
    kind: 'login.codes',
    title: isLoggedIn
      ? 'Somebody who is logged in as you guesses codes of your authenticator app'
      : 'Somebody has your password and guesses codes of your authenticator app',
    body:
      `${MOST} wrong codes within five minutes: no code is taken for a while, and a recovery code or ` +
      'a passkey lets you in. If it was not you, change the password: adjutant auth password',
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
