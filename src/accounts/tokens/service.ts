import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import { formatAccessToken } from '../../kernel/token.js';
import type { Outbox } from '../../outbound/module.js';
import type { Signer } from '../../secrets/module.js';
import { type AccessTokenRow, accessTokenTable } from '../../store/tables/accounts.js';
import { viewer } from '../../store/view.js';
import type { AccountOperations } from '../auth/account.js';
import { AccessToken, type NewToken } from './contract.js';
import type { TokensStore } from './queries.js';

export interface TokensDeps {
  tokens: TokensStore;
  signer: Pick<Signer, 'sign'>;
  clock: Clock;
  outbox: Pick<Outbox, 'toOwner'>;
  scopes(): readonly string[];
  accounts: AccountOperations;
  endSession(tokenId: string): void;
}

const MAX_TOKENS = 100;
const DEFAULT_DAYS = 90;
const DAY_S = 24 * 3600;

/** Throws 409 `too_many_tokens` at the limit. The owner is notified, since a token gives access. */
export const createToken = async (
  deps: TokensDeps,
  input: NewToken,
  by: Caller & Recorder,
): Promise<AccessToken & { token: string }> => {
  refuseUnknown(deps.scopes(), input.scopes ?? []);
  await deps.accounts.proveFresh(by, input.password);
  const { row, token } = tokenFor(deps, input, by.userId);
  const { name } = row;
  const message = deps.outbox.toOwner(by.userId, {
    kind: 'token.created',
    title: `A personal access token was created: ${name}`,
    body: 'A program can act as you with it. If this was not you, delete it: adjutant auth tokens list',
    link: '/api/auth/tokens',
  });
  const view = viewToken(row);
  const { scopes, expiresAt } = view;
  const record = by.record({ target: row.id, data: { name, scopes, expiresAt } });
  const isMade = await deps.accounts.withinSession(by.sessionId, (holds) =>
    deps.tokens.insert(row, MAX_TOKENS, [holds, ...message.statements, record]),
  );
  if (!isMade) {
    throw Boom.conflict(`You already have ${MAX_TOKENS} tokens, the maximum. Delete one first`, {
      code: 'too_many_tokens',
    });
  }
  message.published();
  return { ...view, token };
};

export const deleteToken = async (
  deps: TokensDeps,
  id: string,
  by: Caller & Recorder,
): Promise<void> => {
  const wasThere = await deps.tokens.delete(by.userId, id, [by.record({ target: id })]);
  if (!wasThere) throw Boom.notFound('No token with that id');
  deps.endSession(id);
};

export const viewToken = viewer(accessTokenTable, AccessToken, {});

const refuseUnknown = (known: readonly string[], scopes: string[]): void => {
  const details = scopes.flatMap((scope, at) =>
    known.includes(scope)
      ? []
      : [{ path: `scopes.${at}`, message: `is not a known scope: "${scope}"` }],
  );
  if (details.length === 0) return;
  const [first] = details;
  throw Boom.badRequest(`Invalid request: ${first?.path} ${first?.message}`, {
    code: 'unknown_scope',
    details,
  });
};

const tokenFor = (
  { signer, clock }: TokensDeps,
  { name, scopes, expiresInDays = DEFAULT_DAYS }: NewToken,
  userId: string,
): { row: AccessTokenRow; token: string } => {
  const now = clock.now();
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt + expiresInDays * DAY_S;
  const row = {
    id: mint('token', now),
    user_id: userId,
    name,
    scopes: scopes ? JSON.stringify([...new Set(scopes)].sort()) : null,
    created_at: iso(now),
    expires_at: iso(expiresAt * 1000),
    last_used_at: null,
  };
  const signed = signer.sign({ userId, sessionId: row.id, issuedAt, expiresAt });
  return { row, token: formatAccessToken(signed) };
};
