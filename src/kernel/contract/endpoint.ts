import type { Readable } from 'node:stream';
import type { AuditRecorder, Recorder } from './audit.js';
import type { Schema, Static } from './schema.js';

/**
 * One endpoint as plain data. Routes, the API document, the typed client, the CLI's flags and the
 * tests are all derived from it.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path in hapi's notation: `/api/hooks/{id}`. */
  path: string;
  summary: string;
  /** Details below the summary in the API document. */
  description?: string;
  /**
   * The clients that may call; by default, a logged-in user. `optional`: any client, and a token
   * adds facts.
   */
  access?: 'public' | 'optional' | 'user' | 'admin';
  /**
   * True if only the user in person may call, logged in: no personal access token and no
   * impersonation (403).
   */
  personal?: true;
  /**
   * True if the call is refused under impersonation (403 `personal_only`), because what it shows or
   * does outlasts the impersonation. A personal access token is accepted.
   */
  unimpersonated?: true;
  /**
   * Beginning or end of a login session. A request of the page then gets its token as a cookie, and
   * `token` in the reply is empty.
   */
  session?: 'begins' | 'ends';
  /** True if the call, or a kind of it, takes a permission that an admin gives (403). */
  needsPermission?: true;
  /** The action under which the audit log records this privileged call: `users.invite`. */
  audit?: string;
  /** True if the call is served even if its audit entry cannot be written. */
  auditMayFail?: true;
  /** The query parameter of a call that continues an earlier one, as a long poll does. */
  continuedBy?: string;
  query?: Schema;
  /**
   * True if unknown query keys are accepted: probes, load balancers and senders of webhooks add their
   * own.
   */
  ignoresQuery?: true;
  body?: Schema;
  /** True if numbers of the body keep their digits, as an `ExactNumber`; otherwise they are refused. */
  keepsDigits?: true;
  /** A valid body, for the API document. */
  example?: unknown;
  /** A header that belongs to the example, as a signature over it, for the API document. */
  exampleHeader?: { name: string; value: string; about: string };
  reply?: Schema;
  /** The status of success. The default is 200, or 204 without a reply. */
  status?: 200 | 201 | 202 | 204;
  /** Further replies worth documenting, by status. */
  otherReplies?: Record<number, Schema>;
  /**
   * The most bytes of a body that is passed on unparsed, so that exactly the signed bytes are read.
   */
  rawBytes?: number;
  /** A body of files with text fields, in place of JSON. */
  form?: FormRules;
  /**
   * True if the reply holds a secret. It is not stored for an Idempotency-Key and not cached on the
   * way (`no-store`).
   */
  secret?: true;
  /**
   * True if a call that is no GET changes nothing: its reply is not stored for an Idempotency-Key, and
   * it can be repeated at any time.
   */
  readsOnly?: true;
  /** The media type of a reply that is not JSON. Bytes come as a FileReply, with a type of their own. */
  produces?: 'text/plain' | 'text/calendar' | 'application/octet-stream';
  /** The media type of the text with which it may reply in place of JSON, as its query asks. */
  textAs?: 'application/yaml';
  /**
   * True if the reply comes as server-sent events (WHATWG HTML, 9.2) on request with `Accept:
   * text/event-stream`.
   */
  streams?: true;
  /**
   * True if the endpoint is routed but replies with 501: a part of the interface that is not built
   * yet.
   */
  unbuilt?: true;
}

/** A multipart body (RFC 7578): files under one name, and text fields beside them. */
export interface FormRules {
  /** The name under which the files come. */
  files: string;
  mostFiles: number;
  /** The most bytes of one file. */
  fileBytes: number;
  /** The most bytes of the whole body. */
  bytes: number;
  /** The text fields. A field that comes several times is a list. */
  fields: Schema;
  /** The most bytes of the form as JSON, with its one file as base64; missing: JSON is not taken. */
  jsonBytes?: number;
}

/** One file of a form, while it arrives. */
export interface FormFile {
  filename: string;
  content: Readable;
  /** True, at the end of the content, if the file was longer than allowed and the rest is missing. */
  isCut(): boolean;
}

/** A form that has not been read yet. */
export interface FormBody<F> {
  /**
   * Reads it once. Each file is passed on as it arrives and must be read to its end; the next one
   * waits. Resolves after the last byte, to what became of the files, and to the fields. If the form
   * breaks off or is refused, the file that arrives ends with an error and `undo` gets each taken one.
   */
  read<T>(
    take: (file: FormFile) => Promise<T>,
    undo?: (taken: T) => Promise<void>,
  ): Promise<{ files: T[]; fields: F }>;
}

export type Contract = Record<string, Endpoint>;

/** Keeps the literal types of a contract. */
export const contract = <const C extends Contract>(c: C): C => c;

const endpointOf =
  <const M extends Endpoint['method']>(method: M) =>
  <const P extends string, const E extends Omit<Endpoint, 'method' | 'path'>>(path: P, of: E) => ({
    method,
    path,
    ...of,
  });

/** Makes an endpoint: `endpoint.get('/api/hooks', { summary, reply })`. */
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
/** The body as it arrived, for endpoints that verify a signature over it. */
export interface RawBody {
  bytes: Buffer;
  headers: Record<string, string | undefined>;
  /** The path and query as received. */
  url: string;
}
/** The position of a client that wants events, from its `Last-Event-ID` header. */
export interface Streaming {
  lastEventId: string | null;
}
type Streamed<E> = E extends { streams: true } ? { streaming: Streaming | null } : unknown;
type Raw<E> = E extends { rawBytes: number } ? { raw: RawBody } : unknown;
type Formed<E> = E extends { form: { fields: infer F } } ? { form: FormBody<Static<F>> } : unknown;

/** The input of a handler: path parameters by name, and the declared query and body. */
export type Input<E extends Endpoint> = Params<E['path']> &
  InputPart<E, 'query'> &
  InputPart<E, 'body'> &
  Streamed<E> &
  Raw<E> &
  Formed<E>;
export type Output<E extends Endpoint> = E extends { reply: infer R } ? Static<R> : void;

/** The request context, before the user is known. */
export interface RequestContext {
  requestId: string;
  /** The peer's address, taken from X-Forwarded-For only behind a trusted proxy. */
  address: string;
  /** True if many clients share that address: those of a tunnel that does not distinguish them. */
  isShared: boolean;
  /** The User-Agent header, or '' without one. The client chooses it freely. */
  userAgent: string;
  /** The Host header in lower case: `localhost:3005`. */
  host: string;
  /** True if the request came from this machine: loopback peer and Host, no header of a proxy. */
  isLocal: boolean;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** The request context with the user that a token identifies. */
export interface Caller extends RequestContext {
  userId: string;
  username: string;
  role: 'admin' | 'user';
  sessionId: string;
  /** The time when the token expires, ISO 8601. */
  expiresAt: string;
  /**
   * The scopes of a personal access token, as `hooks:read`. null: everything that its user may do.
   */
  scopes: readonly string[] | null;
  /** The personal access token that is used in place of a login session. */
  tokenId: string | null;
  /**
   * The admin who acts as this user, and the admin's own session. The impersonation ends with that
   * session.
   */
  impersonator: { id: string; username: string; sessionId: string } | null;
}

/** A reply whose status or headers differ from the contract's default. */
export class CustomReply<T> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Record<string, string> = {},
  ) {}
}

/** A reply that is JSON already, so that a large payload is not parsed and written again. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A reply of bytes, sent as they are read. */
export class FileReply {
  constructor(
    readonly content: Readable,
    readonly headers: Record<string, string>,
  ) {}
}

/** A reply as server-sent events. It ends with its source or with its reader. */
export class EventStream {
  constructor(readonly events: AsyncIterable<ServerSentEvent>) {}
}

/** One event. An event without a name or data only shows that the connection is alive. */
export interface ServerSentEvent {
  /** The position that `Last-Event-ID` names when the client reconnects. */
  id?: string;
  event?: string;
  data?: unknown;
}

/** The bodies of the further replies of an endpoint. */
type OtherReplies<E> = E extends { otherReplies: infer A } ? Static<A[keyof A]> : never;
type CallerOf<E extends Endpoint> = E extends { access: 'public' }
  ? RequestContext
  : E extends { access: 'optional' }
    ? RequestContext & Partial<Caller>
    : Caller;
/** The recorder of the audit log, which only the handler of an audited endpoint has. */
type Recording<E extends Endpoint> = E extends { audit: string }
  ? E extends { access: 'public' | 'optional' }
    ? AuditRecorder
    : Recorder
  : unknown;
/** The handlers of a contract, one per endpoint. The compiler reports a missing one. */
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

/** The input of a call. Optional members of an input are optional here. */
type CallInput<E extends Endpoint> = Params<E['path']> &
  (E extends { query: infer Q } ? { query?: Static<Q> } : unknown) &
  InputPart<E, 'body'>;
/** The typed client of a contract. */
export type Calls<C extends Contract> = {
  [K in keyof C]: (input?: CallInput<C[K]>) => Promise<Output<C[K]>>;
};

/** A write with an `Idempotency-Key`, whose first reply is stored. */
export interface ReplayCall {
  userId: string;
  route: string;
  key: string;
  bodyDigest: string;
  /** True if doing it twice is the same as once: its method is not `POST`. */
  isRepeatable: boolean;
}
export interface KeptReply {
  status: number;
  body: unknown;
}
