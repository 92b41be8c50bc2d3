import type { Caller, Endpoint } from './contract/endpoint.js';

/** Why somebody may not call, although the user that he speaks for may: the `code` of a 403. */
export interface ScopeRefusal {
  code: 'personal_only' | 'scope_missing';
  message: string;
}
type Speaker = Pick<Caller, 'scopes' | 'tokenId' | 'impersonator'>;
type CalledEndpoint = Pick<Endpoint, 'method' | 'path' | 'personal' | 'unimpersonated'>;

const NOUN = /^\/api\/([\w-]+)/;
/** To answer an approval is a right of its own, apart from the chat that its path begins with. */
const APPROVAL = /^\/api\/chat\/approv/;
/** A token tells who it belongs to (`me`); of its account it touches nothing. */
const ACCOUNT = 'auth';
/** What is given for it says no more than the token that asks. */
const TICKET = '/api/auth/ws-ticket';
/** Never under impersonation. */
const APPROVE = 'approvals:write';
/** Rights that a token has only where it names them; one without scopes has all others. */
const ONLY_IF_NAMED = [APPROVE, 'admin:read', 'admin:write'];

/** Whether a token with these scopes (null = it names none) may do what the scope is for. */
export const hasScope = (scopes: readonly string[] | null, scope: string): boolean =>
  scopes === null ? !ONLY_IF_NAMED.includes(scope) : scopes.includes(scope);

/**
 * The scope that a personal access token needs for an endpoint: `<noun of the path>:read` for GET,
 * `:write` for the rest. null: it needs none.
 */
export const scopeOf = ({ method, path }: CalledEndpoint): string | null => {
  const noun = nounOf(path);
  if (noun === null || noun === ACCOUNT) return null;
  return `${noun}:${method === 'GET' ? 'read' : 'write'}`;
};

/** Every scope that a token may name, of the endpoints that ask who calls. */
export const scopesOf = (endpoints: Endpoint[]): string[] => {
  const nouns = endpoints
    .filter(({ access }) => access !== 'public')
    .map(({ path }) => nounOf(path))
    .filter((noun) => noun !== null && noun !== ACCOUNT);
  return [...new Set(nouns)].sort().flatMap((noun) => [`${noun}:read`, `${noun}:write`]);
};

/** Decides for personal access tokens and for impersonation; whoever logged in is never refused here. */
export const scopeRefusal = (by: Speaker, endpoint: CalledEndpoint): ScopeRefusal | null => {
  if (by.tokenId === null && by.impersonator === null) return null;
  const scope = scopeOf(endpoint);
  if (isPersonal(by, endpoint, scope)) {
    const who = by.tokenId === null ? 'an admin who acts as somebody else' : 'a token';
    const message = `This is for the person itself, logged in, and not for ${who}`;
    return { code: 'personal_only', message };
  }
  if (by.tokenId === null || scope === null || hasScope(by.scopes, scope)) return null;
  return { code: 'scope_missing', message: missing(scope) };
};

/** The sentence for a token without that scope. */
export const missing = (scope: string): string => `This token lacks the scope ${scope}`;

const isPersonal = (
  { tokenId }: Speaker,
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
