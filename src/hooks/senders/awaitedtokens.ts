import { type Clock, iso } from '../../kernel/clock.js';
import type { Static } from '../../kernel/contract/schema.js';
import { parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { isSame } from '../../kernel/signature.js';
import type { AwaitedToken, ReceivedToken } from './contract.js';

/** Ours: how long a token is awaited after its owner asked. */
const AWAITED_MS = 10 * 60_000;
const TOKEN = /^[\x21-\x7e]{1,200}$/;

/**
 * Ours: the number of tokens that are kept for a hook. Anybody can send one, so a later one does not
 * take the place of the sender's.
 */
const MAX_KEPT = 5;

interface Awaited {
  until: number;
  /** Newest first. */
  tokens: Static<typeof ReceivedToken>[];
}

/**
 * Creates the tokens that are awaited, by hook. They are kept in memory alone: a restart ends the
 * wait, and the sender can be asked to send its token again.
 */
export const createAwaitedTokens = (clock: Clock) => {
  const awaited = new Map<string, Awaited>();

  const openOf = (hookId: string): Awaited | null => {
    const one = awaited.get(hookId);
    if (!one) return null;
    if (one.until > clock.now()) return one;
    awaited.delete(hookId);
    return null;
  };

  const view = (one: Awaited | null): Static<typeof AwaitedToken> => {
    const [newest, ...earlier] = one?.tokens ?? [];
    const { token = null, receivedAt = null } = newest ?? {};
    return { until: one && iso(one.until), token, receivedAt, earlier };
  };

  return {
    /** Begins to await a token, and forgets those that came before. */
    begin: (hookId: string): Static<typeof AwaitedToken> => {
      const one = { until: clock.now() + AWAITED_MS, tokens: [] };
      awaited.set(hookId, one);
      return view(one);
    },
    of: (hookId: string): Static<typeof AwaitedToken> => view(openOf(hookId)),
    /** Takes the token of a request's body, if one is awaited for the hook. */
    take: (hookId: string, body: Buffer): boolean => {
      const one = openOf(hookId);
      const token = one && tokenIn(body);
      if (!token) return false;
      const others = one.tokens.filter((each) => each.token !== token);
      one.tokens = [{ token, receivedAt: iso(clock.now()) }, ...others].slice(0, MAX_KEPT);
      return true;
    },
    /** True if that token came. */
    isKnown: (hookId: string, token: string): boolean => {
      const given = Buffer.from(token);
      const came = openOf(hookId)?.tokens ?? [];
      return came.filter((each) => isSame(Buffer.from(each.token), given)).length > 0;
    },
    /** Ends the wait. */
    forget: (hookId: string): void => {
      awaited.delete(hookId);
    },
  };
};

export type AwaitedTokens = ReturnType<typeof createAwaitedTokens>;

const MAX_BYTES = 4096;

/** Returns the token of Notion's verification request (Notion: Webhooks, verification). */
const tokenIn = (body: Buffer): string | null => {
  if (body.length > MAX_BYTES) return null;
  const token = textAt(parsedJson(body.toString('utf8')), 'verification_token');
  return token !== null && TOKEN.test(token) ? token : null;
};
