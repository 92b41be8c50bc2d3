import type { Readable } from 'node:stream';
import type { AuditRecorder, Recorder } from './audit.js';
import type { Schema, Static } from './schema.js';

/**
 * One endpoint as data. Routes, the API document, the typed client, the CLI flags and tests are
 * derived from it.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  /** Details below the summary in the API document. */
  description?: string;
  /** Who may call. Defaults to `user`. `optional`: anybody; a token adds facts. */
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
  /** Requires a permission granted by an admin (403). */
  needsPermission?: true;
  /** Action name in the audit log: `users.invite`. */
  audit?: string;
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
  /** A header that belongs to the example, such as its signature. */
  exampleHeader?: { name: string; value: string; about: string };
  reply?: Schema;
  /** Success status. Defaults to 200, or 204 without a reply. */
  status?: 200 | 201 | 202 | 204;
  /** Other documented replies by status. */
  otherReplies?: Record<number, Schema>;
  /** Maximum bytes of a body that is passed on unparsed, to verify its signature. */
  rawBytes?: number;
  /** Multipart body instead of JSON. */
  form?: FormRules;
  /**
   * The reply contains a secret. It is neither stored for an Idempotency-Key nor cached
   * (`no-store`).
   */
  secret?: true;
  /** A call other than GET that changes nothing. Its reply is not stored for an Idempotency-Key. */
  readsOnly?: true;
  /** Media type of a reply other than JSON. A FileReply sets its own. */
  produces?: 'text/plain' | 'text/calendar' | 'application/octet-stream';
  /** Alternative media type that the query can request. */
  textAs?: 'application/yaml';
  /** Replies with server-sent events (WHATWG HTML, 9.2) on `Accept: text/event-stream`. */
  streams?: true;
  /** Not implemented yet: replies with 501. */
  unbuilt?: true;
}

/** A multipart body (RFC 7578): files in one field, and text fields. */
export interface FormRules {
  /** Name of the file field. */
  files: string;
  mostFiles: number;
  fileBytes: number;
  bytes: number;
  /** Text fields. Repeated fields become a list. */
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

/** Preserves the literal types of a contract. */
export const contract = <const C extends Contract>(c: C): C => c;

const endpointOf =
  <const M extends Endpoint['method']>(method: M) =>
  <const P extends string, const E extends Omit<Endpoint, 'method' | 'path'>>(path: P, of: E) => ({
    method,
    path,
    ...of,
  });

/** `endpoint.get('/api/hooks', { summary, reply })` */
export const endpoint = {
  get: endpointOf('GET'),
  post: endpointOf('POST'),
  put: endpointOf('PUT'),
  patch: endpointOf('PATCH'),
  delete: endpointOf('DELETE'),
};

type Params<P extends string> = P extends `${string}{${infer N}}${infer R}`
  ? { [K in N]: string } & Params<R>
  : unknown;
type InputPart<E, K extends string> = E extends { [P in K]: infer V }
  ? { [P in K]: Static<V> }
  : unknown;
/** Unparsed body, for signature verification. */
export interface RawBody {
  bytes: Buffer;
  headers: Record<string, string | undefined>;
  url: string;
}
/** Position from the `Last-Event-ID` header. */
export interface Streaming {
  lastEventId: string | null;
}
type Streamed<E> = E extends { streams: true } ? { streaming: Streaming | null } : unknown;
type Raw<E> = E extends { rawBytes: number } ? { raw: RawBody } : unknown;
type Formed<E> = E extends { form: { fields: infer F } } ? { form: FormBody<Static<F>> } : unknown;

export type Input<E extends Endpoint> = Params<E['path']> &
  InputPart<E, 'query'> &
  InputPart<E, 'body'> &
  Streamed<E> &
  Raw<E> &
  Formed<E>;
export type Output<E extends Endpoint> = E extends { reply: infer R } ? Static<R> : void;

export interface RequestContext {
  requestId: string;
  /** Client address. X-Forwarded-For counts only behind a trusted proxy. */
  address: string;
  /** Whether many clients share the address, as with some tunnels. */
  isShared: boolean;
  /** '' without the header. Chosen by the client. */
  userAgent: string;
  /** Lower case: `localhost:3005`. */
  host: string;
  /** Whether the request came from this machine: loopback peer and Host, no proxy header. */
  isLocal: boolean;
  signal: AbortSignal;
}

/** The request context with the authenticated user. */
export interface Caller extends RequestContext {
  userId: string;
  username: string;
  role: 'admin' | 'user';
  sessionId: string;
  expiresAt: string;
  /** Scopes of a personal access token, such as `hooks:read`. Null means all rights of the user. */
  scopes: readonly string[] | null;
  /** Personal access token used instead of a login session. */
  tokenId: string | null;
  /** The impersonating admin and the admin's session. The impersonation ends with that session. */
  impersonator: { id: string; username: string; sessionId: string } | null;
}

/** A reply with another status or other headers than the contract's. */
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

/** Bytes, sent while they are read. */
export class FileReply {
  constructor(
    readonly content: Readable,
    readonly headers: Record<string, string>,
  ) {}
}

/** Server-sent events. Ends with its source or its reader. */
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
    : Caller;
/** Only handlers of audited endpoints receive the recorder. */
type Recording<E extends Endpoint> = E extends { audit: string }
  ? E extends { access: 'public' | 'optional' }
    ? AuditRecorder
    : Recorder
  : unknown;
/** One handler per endpoint, checked by the compiler. */
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

/** Optional members of the input are optional here. */
type CallInput<E extends Endpoint> = Params<E['path']> &
  (E extends { query: infer Q } ? { query?: Static<Q> } : unknown) &
  InputPart<E, 'body'>;
export type Calls<C extends Contract> = {
  [K in keyof C]: (input?: CallInput<C[K]>) => Promise<Output<C[K]>>;
};

/** A write with an `Idempotency-Key`, whose first reply is stored. */
export interface ReplayCall {
  userId: string;
  route: string;
  key: string;
  bodyDigest: string;
  /** Whether repeating has the same effect as once: the method is not `POST`. */
  isRepeatable: boolean;
}
export interface KeptReply {
  status: number;
  body: unknown;
}
