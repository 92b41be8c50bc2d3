import type { GrantRow, GrantScope } from '../../store/tables/permissions.js';
import type { Tool, ToolIdentity } from '../../tools/module.js';
import { findCredentialNames } from '../../vault/module.js';
import { encodedPath, namesOtherAddress, parseCalledAddress, parseRequestCall } from './address.js';

export const MAX_GRANTS = 100;

export interface JudgedCall {
  tool: ToolIdentity & Pick<Tool, 'sendsOut' | 'definitionDigest'>;
  arguments: Record<string, unknown>;
  isUntrusted: boolean;
}

/** Skills for which every call is decided separately. */
const ALWAYS_ONCE = new Set(['shell', 'email']);

/**
 * Returns the scopes of a standing approval that would cover the same call again. There are none for
 * the shell, e-mail, a call that names a credential, an address that cannot be compared, an address in
 * another argument than `url`, and what an untrusted agent sends out beyond a path.
 */
export const listGrantScopes = (call: JudgedCall): GrantScope[] => {
  const { tool, arguments: args } = call;
  const scopes: GrantScope[] = parseRequestCall(tool, args)
    ? ['conversation', 'host']
    : ['conversation'];
  const terms = {
    tool: tool.skillId,
    action: tool.name,
    tool_digest: tool.definitionDigest ?? null,
    ...buildGrantTerms(tool, args),
  };
  return scopes.filter((scope) => grantCovers({ ...terms, scope }, call));
};

/** True if a standing approval is possible for a call of this kind. */
export const isGrantable = ({ tool, arguments: args, isUntrusted }: JudgedCall): boolean => {
  if (ALWAYS_ONCE.has(tool.skillId) || findCredentialNames(args).length > 0) return false;
  if (isUntrusted && tool.definitionDigest !== undefined) return false;
  if (tool.sendsOut && namesOtherAddress(tool, args)) return false;
  return args.url === undefined || parseCalledAddress(args.url) !== null;
};

export type GrantTerms = Pick<GrantRow, 'origin' | 'method' | 'path_prefix'>;

export const buildGrantTerms = (tool: ToolIdentity, args: Record<string, unknown>): GrantTerms => {
  const request = parseRequestCall(tool, args);
  return {
    origin: parseCalledAddress(args.url)?.origin ?? null,
    method: request?.method ?? null,
    path_prefix: request?.segments ? encodedPath(request.segments) : null,
  };
};

export type CoveringGrant = GrantTerms &
  Pick<GrantRow, 'scope' | 'tool' | 'action' | 'tool_digest'>;

/**
 * `conversation` covers the same tool and origin; `host` the same origin and method. Both cover an
 * untrusted agent only if the call sends nothing but a path or repeats the approved method; see
 * `coversUntrusted`.
 */
export const grantCovers = (grant: CoveringGrant, call: JudgedCall): boolean =>
  isGrantable(call) && matchesGrant(grant, call);

/** Like `covers`, for a call that passed `isGrantable`. */
export const matchesGrant = (grant: CoveringGrant, call: JudgedCall): boolean => {
  const { tool, arguments: args, isUntrusted } = call;
  if (grant.tool !== tool.skillId || grant.action !== tool.name) return false;
  if (grant.tool_digest !== (tool.definitionDigest ?? null)) return false;
  if (grant.origin !== (parseCalledAddress(args.url)?.origin ?? null)) return false;
  if (isUntrusted) return coversUntrusted(grant, call);
  return grant.scope === 'conversation' || grant.method === parseRequestCall(tool, args)?.method;
};

/**
 * A query string, odd headers or an odd path are never covered. A GET without a body is covered
 * anywhere on the host; any other method only if it is the approved one and, with `host`, at or below
 * the approved path.
 */
const coversUntrusted = (grant: CoveringGrant, { tool, arguments: args }: JudgedCall): boolean => {
  const request = parseRequestCall(tool, args);
  if (!request) return !tool.sendsOut;
  const { method, segments, hasQuery, hasOddHeaders, hasBody } = request;
  if (hasQuery || hasOddHeaders || !segments) return false;
  if (method === 'GET') return !hasBody;
  if (method !== grant.method) return false;
  return grant.scope === 'conversation' || isWithin(segments, grant.path_prefix);
};

const isWithin = (segments: string[], prefix: string | null): boolean => {
  if (prefix === null) return false;
  return prefix === '/' || `${encodedPath(segments)}/`.startsWith(`${prefix}/`);
};
