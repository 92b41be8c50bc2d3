import Boom from '@hapi/boom';
import type { Cancel } from './clock.js';
import { type Caller, type Endpoint, JsonText } from './contract/endpoint.js';
import { DEFAULT_LIMIT } from './contract/page.js';
import { hasKey } from './contract/schema.js';

export type MemberRole = NonNullable<Caller['member']>['role'];

export interface Organizations {
  /** IDs of the organizations of the user. */
  of(userId: string): Promise<string[]>;
  /** Null if the user is not a member. */
  membership(orgId: string, userId: string): Promise<Membership | null>;
  /** The organization that owns the resource; null if it has another owner, or does not exist. */
  ownerOf(resourceId: string, endpoint: Pick<Endpoint, 'path'>): Promise<string | null>;
  /** Calls `left` within a second when the user is no longer a member. */
  watch(orgId: string, userId: string, left: () => void): Cancel;
}

interface Membership {
  role: MemberRole;
  isApproved: boolean;
}

/** Query value of lists without the resources of organizations. */
const PERSONAL = 'personal';

interface Call {
  endpoint: Endpoint;
  /** Calls `act` after the reply was sent or the client disconnected. */
  whenClosed(act: () => void): void;
  /** First parameter of the path. */
  inPath: string | undefined;
  query: unknown;
  body: unknown;
}

/** Callers for whom a shared endpoint is to be handled: several only for a list. */
export const findCallers = async (
  organizations: Organizations,
  { endpoint, inPath, query, body, whenClosed }: Call,
  by: Caller,
): Promise<Caller[]> => {
  const { sharedBy, method } = endpoint;
  const orgId = takeOrgId(query) ?? takeOrgId(body);
  if (orgId === PERSONAL) return [by];
  const actFor = (org: string) => callerFor(organizations, { org, endpoint, whenClosed }, by);
  if (orgId !== undefined) return [await actFor(orgId)];
  const resourceId = inPath ?? (sharedBy && textIn(body, sharedBy));
  if (resourceId !== undefined) {
    const owner = await organizations.ownerOf(resourceId, endpoint);
    const isMember = owner !== null && (await organizations.membership(owner, by.userId)) !== null;
    return [isMember ? await actFor(owner) : by];
  }
  if (method !== 'GET' || !isMerged(endpoint, query)) return [by];
  const others = await Promise.all((await organizations.of(by.userId)).map(actFor).map(orRefused));
  return [by, ...others.filter((caller) => caller !== null)];
};

/** Whether the call may be for an organization of the user. */
export const isForOrganization = async (
  organizations: Organizations,
  { endpoint, inPath, query, body }: Omit<Call, 'whenClosed'>,
  userId: string,
): Promise<boolean> => {
  if ((textIn(query, 'orgId') ?? textIn(body, 'orgId')) !== undefined) return true;
  const owner = inPath === undefined ? null : await organizations.ownerOf(inPath, endpoint);
  return owner !== null && (await organizations.membership(owner, userId)) !== null;
};

/** A list leaves out the organizations in which the role is too low, or has just ended. */
const orRefused = (caller: Promise<Caller>): Promise<Caller | null> =>
  caller.catch((error: unknown) => {
    if (Boom.isBoom(error)) return null;
    throw error;
  });

const takeOrgId = (of: unknown): string | undefined => {
  const value = textIn(of, 'orgId');
  if (value !== undefined && typeof of === 'object' && of !== null)
    Reflect.deleteProperty(of, 'orgId');
  return value;
};

const textIn = (of: unknown, field: string): string | undefined => {
  const value: unknown = typeof of === 'object' && of !== null ? Reflect.get(of, field) : undefined;
  return typeof value === 'string' ? value : undefined;
};

const isMerged = ({ query, unmerged = [] }: Endpoint, given: unknown): boolean =>
  query !== undefined &&
  hasKey(query, 'cursor') &&
  unmerged !== true &&
  unmerged.every((filter) => Object(given)[filter] === undefined);

const RANK = { member: 0, admin: 1, owner: 2 };

/** Throws 404 for strangers, 403 for a lower role, 409 if the organization may not own resources. */
const callerFor = async (
  organizations: Organizations,
  { org, endpoint, whenClosed }: Pick<Call, 'endpoint' | 'whenClosed'> & { org: string },
  by: Caller,
): Promise<Caller> => {
  const found = await organizations.membership(org, by.userId);
  if (!found) throw Boom.notFound('No organization with that id');
  const { role, isApproved } = found;
  if (RANK[role] < RANK[endpoint.shared ?? 'admin']) {
    throw Boom.forbidden('Only owners and admins of the organization may do this', {
      code: 'org_role',
    });
  }
  if (!isApproved && endpoint.method !== 'GET' && !endpoint.readsOnly) throw notApproved();
  const { requestId, address, isShared, userAgent, host, isLocal, username } = by;
  const { sessionId, expiresAt, scopes, tokenId, impersonator } = by;
  let signal: AbortSignal | null = null;
  const untilLeft = (): AbortSignal => {
    const left = new AbortController();
    whenClosed(organizations.watch(org, by.userId, () => left.abort()));
    return AbortSignal.any([by.signal, left.signal]);
  };
  return {
    ...{ requestId, address, isShared, userAgent, host, isLocal, username },
    ...{ sessionId, expiresAt, scopes, tokenId, impersonator },
    get signal() {
      signal ??= untilLeft();
      return signal;
    },
    userId: org,
    role: 'user',
    member: { userId: by.userId, role, isApproved },
  };
};

export const notApproved = (): Boom.Boom =>
  Boom.conflict(
    'The organization is not approved. Ask an admin of the installation to run: adjutant orgs admin update <organization> --approved',
    { code: 'org_not_approved' },
  );

/** As from `mint`. Others are shipped with Adjutant, the same for all owners, and listed last. */
const MINTED = /_[0-9a-z]{26}$/;

const partition = <T>(items: T[], isFirst: (item: T) => boolean): [T[], T[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
];

/** One page of several owners, newest first or as the endpoint orders it. */
export const mergePages = (
  pages: unknown[],
  query: unknown,
  { orderedBy }: Pick<Endpoint, 'orderedBy'>,
): unknown => {
  const keyOf = (item: Record<string, string>): string =>
    (orderedBy ?? ['id']).map((field) => item[field]).join('.');
  const read = pages.map((page) => (page instanceof JsonText ? JSON.parse(page.text) : page));
  const name = Object.keys(read[0]).find((key) => Array.isArray(read[0][key])) ?? '';
  const items = new Map<string, Record<string, string>>();
  // The first page is that of the caller, who may see more of what all owners have.
  for (const item of read.flatMap((page) => page[name])) {
    if (!items.has(keyOf(item))) items.set(keyOf(item), item);
  }
  const ascending = [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
  const [own, shipped] = partition([...items.values()], (item) => MINTED.test(keyOf(item)));
  const newestFirst = [...own.sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1)), ...shipped];
  const all = orderedBy ? ascending : newestFirst;
  const limit = Number(Object(query).limit ?? DEFAULT_LIMIT);
  const shown = all.slice(0, limit);
  const isMore = all.length > limit || read.some(({ nextCursor }) => nextCursor !== null);
  const last = shown.at(-1);
  return { ...read[0], [name]: shown, nextCursor: isMore && last ? keyOf(last) : null };
};
