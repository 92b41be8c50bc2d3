import type { GrantRow, GrantScope } from '../../store/tables/permissions.js';
import type { Tool, ToolIdentity } from '../../tools/module.js';
import { credentialsIn } from '../../vault/module.js';
import { calledAddress, encodedPath, namesOtherAddress, requestIn } from './address.js';

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
export const grantScopesOf = (call: JudgedCall): GrantScope[] => {
  const { tool, arguments: args } = call;
  const scopes: GrantScope[] = requestIn(tool, args) ? ['conversation', 'host'] : ['conversation'];
  const terms = {
    tool: tool.skillId,
    action: tool.name,
    tool_digest: tool.definitionDigest ?? null,
    ...termsOf(tool, args),
  };
  return scopes.filter((scope) => covers({ ...terms, scope }, call));
};

/** True if a standing approval is possible for a call of this kind. */
export const mayStand = ({ tool, arguments: args, isUntrusted }: JudgedCall): boolean => {
  if (ALWAYS_ONCE.has(tool.skillId) || credentialsIn(args).length > 0) return false;
  if (isUntrusted && tool.definitionDigest !== undefined) return false;
  if (tool.sendsOut && namesOtherAddress(tool, args)) return false;
  return args.url === undefined || calledAddress(args.url) !== null;
};

export type GrantTerms = Pick<GrantRow, 'origin' | 'method' | 'path_prefix'>;

export const termsOf = (tool: ToolIdentity, args: Record<string, unknown>): GrantTerms => {
  const request = requestIn(tool, args);
  return {
    origin: calledAddress(args.url)?.origin ?? null,
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
export const covers = (grant: CoveringGrant, call: JudgedCall): boolean =>
  mayStand(call) && isMeant(grant, call);

/** Like `covers`, for a call that passed `mayStand`. */
export const isMeant = (grant: CoveringGrant, call: JudgedCall): boolean => {
  const { tool, arguments: args, isUntrusted } = call;
  if (grant.tool !== tool.skillId || grant.action !== tool.name) return false;
  if (grant.tool_digest !== (tool.definitionDigest ?? null)) return false;
  if (grant.origin !== (calledAddress(args.url)?.origin ?? null)) return false;
  if (isUntrusted) return coversUntrusted(grant, call);
  return grant.scope === 'conversation' || grant.method === requestIn(tool, args)?.method;
};

/**
 * A query string, odd headers or an odd path are never covered. A GET without a body is covered
 * anywhere on the host; any other method only if it is the approved one and, with `host`, at or below
 * the approved path.
 */
const coversUntrusted = (grant: CoveringGrant, { tool, arguments: args }: JudgedCall): boolean => {
  const request = requestIn(tool, args);
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
