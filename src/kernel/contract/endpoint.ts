import type { Recorder, VisitRecorder } from './audit.js';
import type { Schema, Static } from './schema.js';

/**
 * One endpoint as plain data. Routes, the API document, the typed client, the CLI's flags and
 * the tests all follow from it.
 */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** hapi's spelling: `/api/hooks/{id}`. */
  path: string;
  summary: string;
  /** Who may call: a logged-in user unless said otherwise. `optional`: anybody, a token tells more. */
  access?: 'public' | 'optional' | 'user' | 'admin';
  /** Only the person itself, logged in: no personal access token and no impersonation (403). */
  personal?: true;
  /** Not under impersonation (403 `personal_only`), since what it shows outlives that; a token may. */
  unimpersonated?: true;
  /** A privileged call, kept in the audit log under this name: `users.invite`. */
  audit?: string;
  /** Query parameter of a call that goes on from an earlier one, as a long poll does. */
  continuedBy?: string;
  query?: Schema;
  /** Query keys that nothing reads are no mistake: probes and load balancers add their own. */
  ignoresQuery?: true;
  body?: Schema;
  /** A body that is accepted as it stands, for the API document. */
  example?: unknown;
  /** What the document says of a header beside it, as a signature over the example. */
  exampleHeader?: { name: string; value: string; about: string };
  reply?: Schema;
  /** Status of success; 200, or 204 where there is no reply. */
  status?: 200 | 201 | 202 | 204;
  /** Further answers worth documenting, by status. */
  answers?: Record<number, Schema>;
  /** The body arrives as bytes, at most this many, unparsed: what is signed is what is read. */
  rawBytes?: number;
  /** The reply holds a secret: it is stored neither for an Idempotency-Key nor on the way (`no-store`). */
  secret?: true;
  /** A reply that is not JSON. */
  produces?: 'text/plain';
  /** With `Accept: text/event-stream` the reply comes as server-sent events (WHATWG HTML, 9.2). */
  streams?: true;
  /** Routed, and answered with 501: a part of the interface that is not built yet. */
  unbuilt?: true;
}

export type Contract = Record<string, Endpoint>;

/** Keeps the literal types of a contract. */
export const contract = <const C extends Contract>(c: C): C => c;

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
}
/** What a client that wants events says of those that it has: `Last-Event-ID`. */
export interface Streaming {
  lastEventId: string | null;
}
type Streamed<E> = E extends { streams: true } ? { streaming: Streaming | null } : unknown;
type Raw<E> = E extends { rawBytes: number } ? { raw: RawBody } : unknown;

/** What a handler is given: path parameters by name, and of the rest what is declared. */
export type Input<E extends Endpoint> = Params<E['path']> &
  InputPart<E, 'query'> &
  InputPart<E, 'body'> &
  Streamed<E> &
  Raw<E>;
export type Output<E extends Endpoint> = E extends { reply: infer R } ? Static<R> : void;

/** Who asks, before anybody is known. */
export interface Visit {
  requestId: string;
  /** The peer's address, taken from X-Forwarded-For only behind a trusted proxy. */
  address: string;
  /** Many stand behind that address: a tunnel brings them and does not tell them apart. */
  isShared: boolean;
  /** As in the User-Agent header, '' without one; the asker's own word. */
  userAgent: string;
  /** As in the Host header, lower case: `localhost:3005`. */
  host: string;
  /** The request came from this machine itself: loopback peer and Host, no proxy's mark on it. */
  isLocal: boolean;
  /** Aborted when the client goes away. */
  signal: AbortSignal;
}

/** Who asks, with a token. */
export interface Caller extends Visit {
  userId: string;
  username: string;
  role: 'admin' | 'user';
  sessionId: string;
  /** When the token ends, ISO 8601. */
  expiresAt: string;
  /** What a personal access token may do, as `hooks:read`; null = all that its user may. */
  scopes: readonly string[] | null;
  /** The personal access token that is used in place of a session. */
  tokenId: string | null;
  /** The admin who acts as this user, and the admin's own session, with which that ends. */
  impersonator: { id: string; username: string; sessionId: string } | null;
}

/** An answer whose status or headers differ from the contract's default. */
export class CustomReply<T> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Record<string, string> = {},
  ) {}
}

/** A reply that is JSON already: a large payload is not parsed only to be written again. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A reply as server-sent events; it ends with what yields them, or with its reader. */
export class EventStream {
  constructor(readonly events: AsyncIterable<ServerSentEvent>) {}
}

/** One event; without a name or data it only shows that the connection lives. */
export interface ServerSentEvent {
  /** What `Last-Event-ID` names when the client comes back. */
  id?: string;
  event?: string;
  data?: unknown;
}

/** What the further answers of an endpoint hold. */
type Other<E> = E extends { answers: infer A } ? Static<A[keyof A]> : never;
type CallerOf<E extends Endpoint> = E extends { access: 'public' }
  ? Visit
  : E extends { access: 'optional' }
    ? Visit & Partial<Caller>
    : Caller;
/** Only the handler of an audited endpoint can record. */
type Recording<E extends Endpoint> = E extends { audit: string }
  ? E extends { access: 'public' | 'optional' }
    ? VisitRecorder
    : Recorder
  : unknown;
/** One handler per endpoint; the compiler misses none. */
export type Handlers<C extends Contract> = {
  [K in keyof C]: (
    input: Input<C[K]>,
    by: CallerOf<C[K]> & Recording<C[K]>,
  ) => Promise<
    | Output<C[K]>
    | CustomReply<Output<C[K]> | Other<C[K]>>
    | JsonText
    | (C[K] extends { streams: true } ? EventStream : never)
  >;
};

/** Optional members of an input are optional in the call. */
type CallInput<E extends Endpoint> = Params<E['path']> &
  (E extends { query: infer Q } ? { query?: Static<Q> } : unknown) &
  InputPart<E, 'body'>;
/** The typed client of a contract. */
export type Calls<C extends Contract> = {
  [K in keyof C]: (input?: CallInput<C[K]>) => Promise<Output<C[K]>>;
};

/** A write that carries an `Idempotency-Key`, and the first reply to it. */
export interface ReplayCall {
  userId: string;
  route: string;
  key: string;
  bodyDigest: string;
}
export interface KeptReply {
  status: number;
  body: unknown;
}
