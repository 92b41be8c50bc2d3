import type { Readable } from 'node:stream';
import type { AuditRecorder, Recorder } from './audit.js';
import type { Schema, Static } from './schema.js';
import * as s from './schema.js';

/**
 * One endpoint as data. Routes, the API document, the typed client, the CLI flags and tests are
 * derived from it.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  description?: string;
  /**
   * Who may call. Defaults to `user`. `optional`: anybody; a token adds facts. With `admin` and
   * `shared`, a member with the role of `shared` may call for an organization.
   */
  access?: 'public' | 'optional' | 'user' | 'admin';
  /** Requires a login session: no personal access token and no impersonation (403). */
  personal?: true;
  /**
   * Refused under impersonation (403 `personal_only`), because the effect outlasts it. Personal
   * access tokens are accepted.
   */
  unimpersonated?: true;
  /**
   * Start or end of a login session. The web page receives its token as a cookie, and `token` in
   * the reply is empty.
   */
  session?: 'begins' | 'ends';
  /** Name of a cookie that the handler receives. */
  cookie?: string;
  needsPermission?: true;
  /**
   * The resource may belong to an organization. Lowest role of a member who may call the endpoint for
   * the organization: that of `orgId`, or else the owner of the resource in the path or in
   * `sharedBy`. Lists without `orgId` include the organizations of the caller.
   */
  shared?: 'member' | 'admin';
  /** Field of the body with the ID of the resource. */
  sharedBy?: string;
  /**
   * For a list that is not ordered by ID, always or with one of these filters. Without `orgId`, it has
   * the resources of the caller alone.
   */
  unmerged?: true | string[];
  /** Of a list that is ordered by these fields, joined with dots, which are also its cursor. */
  orderedBy?: string[];
  audit?: string;
  /**
   * Maximum time until the reply, in milliseconds, of an endpoint that may take longer than others.
   * The client waits that long.
   */
  maxReplyMs?: number;
  /** Served even if the audit entry cannot be written. */
  auditMayFail?: true;
  /** Query parameter of a call that continues an earlier one, such as a long poll. */
  continuedBy?: string;
  query?: Schema;
  /**
   * Accepts unknown query keys, because probes, load balancers and webhook senders add their own.
   */
  ignoresQuery?: true;
  body?: Schema;
  /** Keeps the digits of numbers as `ExactNumber`. Otherwise such numbers are refused. */
  keepsDigits?: true;
  example?: unknown;
  exampleHeader?: { name: string; value: string; about: string };
  reply?: Schema;
  status?: 200 | 201 | 202 | 204;
  otherReplies?: Record<number, Schema>;
  /** Maximum bytes of a body that is passed on unparsed, to verify its signature. */
  rawBytes?: number;
  form?: FormRules;
  /**
   * The reply contains a secret. It is neither stored for an Idempotency-Key nor cached
   * (`no-store`).
   */
  secret?: true;
  /** A call other than GET that changes nothing. Its reply is not stored for an Idempotency-Key. */
  readsOnly?: true;
  produces?:
    | 'text/plain'
    | 'text/calendar'
    | 'application/octet-stream'
    | 'application/samlmetadata+xml';
  textAs?: 'application/yaml';
  /** Replies with server-sent events (WHATWG HTML, 9.2) on `Accept: text/event-stream`. */
  streams?: true;
  /**
   * SCIM 2.0 (RFC 7644): accepts the SCIM token of an organization as well, and bodies and replies
   * are `application/scim+json`.
   */
  scim?: true;
}

export interface FormRules {
  files: string;
  mostFiles: number;
  fileBytes: number;
  bytes: number;
  /** Repeated fields become a list. */
  fields: Schema;
  /** Maximum bytes of the form as JSON with one base64 file. Without it, JSON is refused. */
  jsonBytes?: number;
}

export interface FormFile {
  filename: string;
  content: Readable;
  /** At the end of the content: whether the file exceeded the limit and is truncated. */
  isCut(): boolean;
}

export interface FormBody<F> {
  /**
   * Call once. Each file must be read to its end before the next one arrives. If the form is
   * interrupted or refused, the current file ends with an error and `undo` receives the earlier
   * results.
   */
  read<T>(
    take: (file: FormFile) => Promise<T>,
    undo?: (taken: T) => Promise<void>,
  ): Promise<{ files: T[]; fields: F }>;
}

export type Contract = Record<string, Endpoint>;

export const contract = <const C extends Contract>(c: C): C => c;

const createEndpointBuilder =
  <const M extends Endpoint['method']>(method: M) =>
  <const P extends string, const E extends Omit<Endpoint, 'method' | 'path'>>(path: P, of: E) => ({
    method,
    path,
    ...of,
    ...sharedInput(method, path, of),
  });

/** Adds `orgId`, which handlers do not receive. */
const sharedInput = (method: string, path: string, of: Partial<Endpoint>): object => {
  const { shared, query, body, form, rawBytes } = of;
  if (shared === undefined || path.includes('{')) return {};
  return method === 'GET' || form || rawBytes !== undefined
    ? { query: s.withOrgId(query, { isMerged: method === 'GET' }) }
    : // A `PUT` takes the reply of an earlier one.
      { body: s.withOrgId(body, { isNullable: method === 'PUT' }) };
};

export const endpoint = {
  get: createEndpointBuilder('GET'),
  post: createEndpointBuilder('POST'),
  put: createEndpointBuilder('PUT'),
  patch: createEndpointBuilder('PATCH'),
  delete: createEndpointBuilder('DELETE'),
};

type Params<P extends string> = P extends `${string}{${infer N}}${infer R}`
  ? { [K in N]: string } & Params<R>
  : unknown;
type InputPart<E, K extends string> = E extends { [P in K]: infer V }
  ? { [P in K]: Static<V> }
  : unknown;
export interface RawBody {
  bytes: Buffer;
  headers: Record<string, string | undefined>;
  url: string;
}
export interface Streaming {
  lastEventId: string | null;
}
type Streamed<E> = E extends { streams: true } ? { streaming: Streaming | null } : unknown;
type WithCookie<E> = E extends { cookie: string } ? { cookie: string | undefined } : unknown;
type Raw<E> = E extends { rawBytes: number } ? { raw: RawBody } : unknown;
type Conditional<E> = E extends { scim: true } ? { ifMatch: string | null } : unknown;
type Formed<E> = E extends { form: { fields: infer F } } ? { form: FormBody<Static<F>> } : unknown;

export type Input<E extends Endpoint> = Params<E['path']> &
  InputPart<E, 'query'> &
  InputPart<E, 'body'> &
  Streamed<E> &
  Conditional<E> &
  Raw<E> &
  WithCookie<E> &
  Formed<E>;
export type Output<E extends Endpoint> = E extends { reply: infer R } ? Static<R> : void;

export interface RequestContext {
  requestId: string;
  address: string;
  /** Whether many clients share the address, as with some tunnels. */
  isShared: boolean;
  userAgent: string;
  host: string;
  /** Whether the request came from this machine: loopback peer and Host, no proxy header. */
  isLocal: boolean;
  signal: AbortSignal;
}

export interface Caller extends RequestContext {
  userId: string;
  username: string;
  role: 'admin' | 'user';
  sessionId: string;
  expiresAt: string;
  /** Scopes of a personal access token, such as `hooks:read`. Null means all rights of the user. */
  scopes: readonly string[] | null;
  tokenId: string | null;
  /** The impersonating admin and the admin's session. The impersonation ends with that session. */
  impersonator: { id: string; username: string; sessionId: string } | null;
  /** For a call for an organization, whose ID is `userId` then: the member who called. */
  member?: { userId: string; role: 'owner' | 'admin' | 'member'; isApproved: boolean };
}

/** The member who calls for an organization, as caller for that person alone. */
export const asPerson = <B extends Pick<Caller, 'userId'> & Partial<Pick<Caller, 'member'>>>(
  by: B,
): B =>
  by.member
    ? Object.assign(Object.create(by), { userId: by.member.userId, member: undefined })
    : by;

/** The identity provider of an organization, authenticated by the SCIM token. */
export interface IdentityProvider extends RequestContext {
  providerOf: string;
}

export class CustomReply<T> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Record<string, string> = {},
  ) {}
}

/** Already JSON, so that a large payload is not parsed and serialized again. */
export class JsonText {
  constructor(readonly text: string) {}
}

export class FileReply {
  constructor(
    readonly content: Readable,
    readonly headers: Record<string, string>,
  ) {}
}

export class EventStream {
  constructor(readonly events: AsyncIterable<ServerSentEvent>) {}
}

/** Without name and data, an event only keeps the connection alive. */
export interface ServerSentEvent {
  /** Sent by the client as `Last-Event-ID` on reconnection. */
  id?: string;
  event?: string;
  data?: unknown;
}

type OtherReplies<E> = E extends { otherReplies: infer A } ? Static<A[keyof A]> : never;
type CallerOf<E extends Endpoint> = E extends { access: 'public' }
  ? RequestContext
  : E extends { access: 'optional' }
    ? RequestContext & Partial<Caller>
    : E extends { scim: true }
      ? Caller | IdentityProvider
      : Caller;
type Recording<E extends Endpoint> = E extends { audit: string }
  ? E extends { access: 'public' | 'optional' }
    ? AuditRecorder
    : Recorder
  : unknown;
export type Handlers<C extends Contract> = {
  [K in keyof C]: (
    input: Input<C[K]>,
    by: CallerOf<C[K]> & Recording<C[K]>,
  ) => Promise<
    | Output<C[K]>
    | CustomReply<Output<C[K]> | OtherReplies<C[K]>>
    | JsonText
    | (C[K] extends { streams: true } ? EventStream : never)
    | (C[K] extends { textAs: string } ? string : never)
    | (C[K] extends { produces: 'application/octet-stream' } ? FileReply : never)
  >;
};

type OrgId<E> = E extends { shared: string } ? { orgId?: string } : unknown;
type CallInput<E extends Endpoint> = Params<E['path']> &
  (E extends { query: infer Q } ? { query?: Static<Q> & OrgId<E> } : unknown) &
  (E extends { body: infer B } ? { body: Static<B> & OrgId<E> } : unknown);
export type Calls<C extends Contract> = {
  [K in keyof C]: (input?: CallInput<C[K]>) => Promise<Output<C[K]>>;
};

export interface ReplayCall {
  userId: string;
  route: string;
  key: string;
  bodyDigest: string;
  /** Whether repeating has the same effect as once: the method is not `POST`. */
  isRepeatable: boolean;
}
export interface StoredReply {
  status: number;
  body: unknown;
}
