import type { Caller, Endpoint } from './contract/endpoint.js';

export interface ScopeRefusal {
  code: 'personal_only' | 'scope_missing' | 'org_role';
  message: string;
}
type CallerRights = Pick<Caller, 'scopes' | 'tokenId' | 'impersonator' | 'member'>;
type CalledEndpoint = Pick<
  Endpoint,
  'method' | 'path' | 'personal' | 'unimpersonated' | 'readsOnly'
>;

const NOUN = /^\/api\/([\w-]+)/;
const APPROVAL = /^\/api\/chat\/approv/;
/** Paths without a scope. A token may read its owner (`me`), but not change the account. */
const ACCOUNT = 'auth';
const TICKET = '/api/auth/ws-ticket';
const APPROVE = 'approvals:write';
/** Only valid if the token lists them. A token without scopes has all others. */
const ONLY_IF_NAMED = [APPROVE, 'admin:read', 'admin:write'];

export const hasScope = (scopes: readonly string[] | null, scope: string): boolean =>
  scopes === null ? !ONLY_IF_NAMED.includes(scope) : scopes.includes(scope);

/** `<noun of the path>:read` or `:write`. Null if no scope is needed. */
export const getEndpointScope = ({ method, path, readsOnly }: CalledEndpoint): string | null => {
  const noun = parseScopeNoun(path);
  if (noun === null || noun === ACCOUNT) return null;
  return `${noun}:${method === 'GET' || readsOnly ? 'read' : 'write'}`;
};

export const listEndpointScopes = (endpoints: Endpoint[]): string[] => {
  const nouns = endpoints
    .filter(({ access }) => access !== 'public')
    .map(({ path }) => parseScopeNoun(path))
    .filter((noun) => noun !== null && noun !== ACCOUNT);
  return [...new Set(nouns)].sort().flatMap((noun) => [`${noun}:read`, `${noun}:write`]);
};

export const scopeRefusal = (by: CallerRights, endpoint: CalledEndpoint): ScopeRefusal | null => {
  const scope = getEndpointScope(endpoint);
  if (by.member?.role === 'member' && scope === APPROVE) {
    return { code: 'org_role', message: 'Only owners and admins of the organization may do this' };
  }
  if (by.tokenId === null && by.impersonator === null) return null;
  if (isPersonal(by, endpoint, scope)) {
    const who = by.tokenId === null ? 'during impersonation' : 'with a personal access token';
    const message = `This action requires your own login and is not available ${who}`;
    return { code: 'personal_only', message };
  }
  if (by.tokenId === null || scope === null || hasScope(by.scopes, scope)) return null;
  return { code: 'scope_missing', message: missingScope(scope) };
};

export const missingScope = (scope: string): string => `The token lacks the scope ${scope}`;

const isPersonal = (
  { tokenId }: CallerRights,
  called: CalledEndpoint,
  scope: string | null,
): boolean => {
  if (called.personal) return true;
  if (tokenId === null) return called.unimpersonated === true || scope === APPROVE;
  if (called.path === TICKET) return false;
  return parseScopeNoun(called.path) === ACCOUNT && called.method !== 'GET';
};

const parseScopeNoun = (path: string): string | null =>
  APPROVAL.test(path) ? 'approvals' : (NOUN.exec(path)?.[1] ?? null);
