import { type Clock, iso } from '../kernel/clock.js';
import type { Caller, RequestContext } from '../kernel/contract/endpoint.js';
import type { Signer } from '../secrets/module.js';
import { Unavailable } from '../store/engine/protocol.js';
import type { AuthStore } from './auth/queries.js';
import type { LiveLoginSession } from './auth/sessions.js';
import type { LiveToken, TokensStore } from './tokens/queries.js';

export type Identity = Omit<Caller, keyof RequestContext>;

type TokenRow = Pick<LiveToken, 'id' | 'user_id' | 'username' | 'role' | 'last_used_at'>;
interface IdentityDeps {
  signer: Pick<Signer, 'read'>;
  users: Pick<AuthStore, 'liveSession' | 'sessionUsed'>;
  tokens: TokensStore;
  clock: Clock;
}

/** The last use is stored to the minute, since each update is a write. */
const NOTED_EVERY_MS = 60_000;

/** Reads the session or personal access token on every use, so that its end takes effect at once. */
export const createIdentify = (deps: IdentityDeps) => {
  const { signer, clock } = deps;
  return async (token: string): Promise<Identity | null> => {
    const claims = signer.read(token);
    if (!claims) return null;
    const id = claims.sessionId;
    const known = await (id.startsWith('token_')
      ? findLiveToken(deps, id)
      : findLiveSession(deps, id));
    if (known?.holder.user_id !== claims.userId) return null;
    const { holder, use, ...rest } = known;
    await note(holder, use, clock.now());
    return {
      userId: holder.user_id,
      username: holder.username,
      role: holder.role,
      // A personal access token takes the place of a session: its sockets are closed by its ID.
      sessionId: holder.id,
      expiresAt: iso(claims.expiresAt * 1000),
      ...rest,
    };
  };
};

type KnownToken = Pick<Identity, 'scopes' | 'tokenId' | 'impersonator'> & {
  holder: TokenRow;
  use(at: string): Promise<void>;
};

const findLiveSession = async (
  { users, clock }: IdentityDeps,
  id: string,
): Promise<KnownToken | null> => {
  const holder = await users.liveSession(id, iso(clock.now()));
  if (!holder) return null;
  const use = (at: string) => users.sessionUsed(id, at);
  return { holder, use, scopes: null, tokenId: null, impersonator: getImpersonator(holder) };
};

const getImpersonator = (session: LiveLoginSession): Caller['impersonator'] => {
  const { impersonator_id: id, impersonator: username, impersonator_session_id } = session;
  if (id === null || username === null || impersonator_session_id === null) return null;
  return { id, username, sessionId: impersonator_session_id };
};

const findLiveToken = async (
  { tokens, clock }: IdentityDeps,
  id: string,
): Promise<KnownToken | null> => {
  const holder = await tokens.live(id, iso(clock.now()));
  if (!holder) return null;
  const scopes = holder.scopes === null ? null : JSON.parse(holder.scopes);
  const use = (at: string) => tokens.used(id, at);
  return { holder, use, scopes, tokenId: id, impersonator: null };
};

/** If the database cannot be written, read-only requests continue. */
const note = async (
  { last_used_at }: TokenRow,
  use: (at: string) => Promise<void>,
  now: number,
): Promise<void> => {
  if (last_used_at !== null && now - Date.parse(last_used_at) < NOTED_EVERY_MS) return;
  try {
    await use(iso(now));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
  }
};
