import { type Clock, iso } from '../../kernel/clock.js';
import type { Static } from '../../kernel/contract/schema.js';
import { parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { isSame } from '../../kernel/signature.js';
import type { AwaitedToken, ReceivedToken } from './contract.js';

/** In milliseconds. */
const AWAITED_MS = 10 * 60_000;
const TOKEN = /^[\x21-\x7e]{1,200}$/;

/** Per hook. Anybody can send a token, so a later one does not replace that of the sender. */
const MAX_KEPT = 5;

interface Awaited {
  until: number;
  tokens: Static<typeof ReceivedToken>[];
}

/** Kept in memory only. After a restart the sender must send its token again. */
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
    begin: (hookId: string): Static<typeof AwaitedToken> => {
      const one = { until: clock.now() + AWAITED_MS, tokens: [] };
      awaited.set(hookId, one);
      return view(one);
    },
    of: (hookId: string): Static<typeof AwaitedToken> => view(openOf(hookId)),
    take: (hookId: string, body: Buffer): boolean => {
      const one = openOf(hookId);
      const token = one && tokenIn(body);
      if (!token) return false;
      const others = one.tokens.filter((each) => each.token !== token);
      one.tokens = [{ token, receivedAt: iso(clock.now()) }, ...others].slice(0, MAX_KEPT);
      return true;
    },
    isKnown: (hookId: string, token: string): boolean => {
      const given = Buffer.from(token);
      const came = openOf(hookId)?.tokens ?? [];
      return came.filter((each) => isSame(Buffer.from(each.token), given)).length > 0;
    },
    forget: (hookId: string): void => {
      awaited.delete(hookId);
    },
  };
};

export type AwaitedTokens = ReturnType<typeof createAwaitedTokens>;

const MAX_BYTES = 4096;

/** See Notion: Webhooks, verification. */
const tokenIn = (body: Buffer): string | null => {
  if (body.length > MAX_BYTES) return null;
  const token = textAt(parsedJson(body.toString('utf8')), 'verification_token');
  return token !== null && TOKEN.test(token) ? token : null;
};
