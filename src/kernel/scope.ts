import type { Caller, Endpoint } from './contract/endpoint.js';

/**
 * A refusal of a call that the user may make, but not with this token or this impersonation. `code`
 * is that of the 403.
 */
export interface ScopeRefusal {
  code: 'personal_only' | 'scope_missing';
  message: string;
}
type CallerRights = Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>;
type CalledEndpoint = Pick<
  Endpoint,
  'method' | 'path' | 'personal' | 'unimpersonated' | 'readsOnly'
>;

const NOUN = /^\/api\/([\w-]+)/;
/**
 * Deciding an approval needs a scope of its own, separate from the chat that its path begins with.
 */
const APPROVAL = /^\/api\/chat\/approv/;
/**
 * The noun of paths that need no scope. A token may read its owner (`me`), but change nothing in
 * the account.
 */
const ACCOUNT = 'auth';
/** The endpoint for tickets. A ticket gives no more rights than the token that requests it. */
const TICKET = '/api/auth/ws-ticket';
/** The scope that is never valid under impersonation. */
const APPROVE = 'approvals:write';
/** Scopes that a token has only if it names them. A token without scopes has all others. */
const ONLY_IF_NAMED = [APPROVE, 'admin:read', 'admin:write'];

/** True if a token with these scopes (null = it names none) has the given scope. */
export const hasScope = (scopes: readonly string[] | null, scope: string): boolean =>
  scopes === null ? !ONLY_IF_NAMED.includes(scope) : scopes.includes(scope);

/**
 * Returns the scope that a personal access token needs for an endpoint: `<noun of the path>:read`
 * for GET and what only reads, `:write` for the rest. null: it needs none.
 */
export const scopeOf = ({ method, path, readsOnly }: CalledEndpoint): string | null => {
  const noun = nounOf(path);
  if (noun === null || noun === ACCOUNT) return null;
  return `${noun}:${method === 'GET' || readsOnly ? 'read' : 'write'}`;
};

/** Returns every scope that a token may name, from the endpoints that identify their caller. */
export const scopesOf = (endpoints: Endpoint[]): string[] => {
  const nouns = endpoints
    .filter(({ access }) => access !== 'public')
    .map(({ path }) => nounOf(path))
    .filter((noun) => noun !== null && noun !== ACCOUNT);
  return [...new Set(nouns)].sort().flatMap((noun) => [`${noun}:read`, `${noun}:write`]);
};

/**
 * Checks calls by personal access tokens and under impersonation. A user with a login session is
 * never refused here.
 */
export const scopeRefusal = (by: CallerRights, endpoint: CalledEndpoint): ScopeRefusal | null => {
  if (by.tokenId === null && by.impersonator === null) return null;
  const scope = scopeOf(endpoint);
  if (isPersonal(by, endpoint, scope)) {
    const who = by.tokenId === null ? 'during impersonation' : 'with a personal access token';
    const message = `This action requires your own login. It is not available ${who}`;
    return { code: 'personal_only', message };
  }
  if (by.tokenId === null || scope === null || hasScope(by.scopes, scope)) return null;
  return { code: 'scope_missing', message: missingScope(scope) };
};

/** Returns the message for a token without that scope. */
export const missingScope = (scope: string): string => `The token lacks the scope ${scope}`;

const isPersonal = (
  { tokenId }: CallerRights,
  called: CalledEndpoint,
  scope: string | null,
): boolean => {
  if (called.personal) return true;
  if (tokenId === null) return called.unimpersonated === true || scope === APPROVE;
  if (called.path === TICKET) return false;
  return nounOf(called.path) === ACCOUNT && called.method !== 'GET';
};

const nounOf = (path: string): string | null =>
  APPROVAL.test(path) ? 'approvals' : (NOUN.exec(path)?.[1] ?? null);
