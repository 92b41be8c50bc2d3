import type { Agent } from 'undici';
import { collected } from './collect.js';
import type { Cookies } from './cookies.js';
import { decodedBody, ENCODINGS } from './decode.js';
import { checkedAddresses, createConnector } from './dial.js';
import { createEgress, type Egress, EgressRefused, hostAndPort, parseUrl } from './egress.js';
import type { HttpReply } from './exchange.js';
import { HttpFailure, type PartialReply } from './failure.js';
import { completeHandshake } from './handshake.js';
import { type Lookup, notedLookup, systemLookup } from './lookup.js';
import { type CallLimits, followRedirects, hopOf } from './redirect.js';
import { loadUndici } from './undici.js';

/** One outgoing request. The default limits are those of forwards and tools, `forRequests`. */
export interface Outgoing extends Partial<CallLimits> {
  method: string;
  url: string;
  /**
   * Request headers. Those of the connection (Host, Content-Length and the like) are set by this
   * module only.
   */
  headers?: Record<string, string>;
  body?: string | Buffer;
  signal?: AbortSignal;
  /** The number of bytes of the reply's body that the caller needs. The rest is not waited for. */
  enoughBytes?: number;
  /** Entries in addition to those of egressAllow, for this call only. */
  allow?: string[];
  /**
   * True if the request is meant for this origin only: as with a body, no redirect to another
   * origin is followed.
   */
  isBound?: boolean;
  /** True if the request is meant for this URL only: no redirect is followed. */
  isExact?: boolean;
  /** True if no redirect leads from https to plain http. */
  keepsTls?: boolean;
  /**
   * True if the body may come in a content-encoding that is undone: gzip, deflate or brotli. The
   * limit of bytes is valid before and after that.
   */
  isDecoded?: boolean;
  /** Cookies that several requests share. Without them only the redirects of one request do. */
  cookies?: Cookies;
}

/** A reply. Its headers are as they came, also if a content-encoding was undone. */
export interface Incoming extends PartialReply {
  /** The URL that sent the reply, after all redirects. */
  url: string;
  /** The target of a redirect that was not followed because the request is bound. */
  notFollowed?: string;
}

/** A reply whose body is read piece by piece. */
export interface OpenedReply extends HttpReply {
  /** The URL that sent the reply, after all redirects. */
  url: string;
}

export type Http = ReturnType<typeof createHttp>;

const forRequests: CallLimits = {
  firstByteMs: 10_000,
  silenceMs: 10_000,
  totalMs: 60_000,
  maxBytes: 5 * 1024 * 1024,
  redirects: 3,
};

const forModels: CallLimits = {
  firstByteMs: 120_000,
  silenceMs: 60_000,
  // Ours: a reader that stops reading must not hold a connection forever.
  totalMs: 1_800_000,
  maxBytes: 64 * 1024 * 1024,
  redirects: 3,
};

/**
 * Creates the HTTP client, the only way for the daemon to make outgoing requests. `allow` is the
 * setting egressAllow; an invalid entry throws. `nameNote` ends the failure to resolve a name.
 */
export const createHttp = (options: {
  allow: string[];
  lookup?: Lookup;
  nameNote?: string | null;
}) => {
  const { allow, lookup: plain = systemLookup, nameNote = null } = options;
  const lookup = notedLookup(plain, nameNote);
  const egress = createEgress(allow);
  const ways = createWays(allow, lookup);

  return {
    /** Connects to the host of the URL and returns what it shows. Errors: as those of `request`. */
    shake: (url: string, { allow: extra = [], signal }: Pick<Outgoing, 'allow' | 'signal'>) => {
      const to = createEgress([...allow, ...extra]);
      return completeHandshake(to, lookup, { url: parseUrl(url), signal });
    },
    /**
     * Sends a request. Any status is a reply. Throws EgressRefused, BadUrl, or HttpFailure with the
     * part of the reply that came.
     */
    request: async (out: Outgoing): Promise<Incoming> => {
      const way = await ways.to(out.allow ?? []);
      const limits = bounded(out, forRequests);
      const { isBound, isExact, keepsTls, isDecoded, signal, cookies } = out;
      const hop = hopOf(askingEncoded(out));
      const bounds = { ...way, limits, isBound, isExact, keepsTls, signal, cookies };
      const followed = await followRedirects(hop, bounds);
      const { url, notFollowed, ...reply } = followed;
      const contentEncoding = (isDecoded && reply.headers['content-encoding']) || '';
      const encoded = { host: url.hostname, contentEncoding, maxBytes: limits.maxBytes };
      const body = decodedBody(reply.body, encoded);
      return {
        ...(await collected({ ...reply, body }, out.enoughBytes)),
        url: url.href,
        ...(notFollowed && { notFollowed: notFollowed.href }),
      };
    },
    /**
     * Sends a request for a body that is read piece by piece, such as a file. The caller reads it to
     * its end or cancels it. Redirects are followed, also to other hosts. Any status is a reply.
     * Throws as `request`, also in the middle of the body.
     */
    open: async (
      out: Omit<Outgoing, 'enoughBytes' | 'isDecoded' | 'cookies'>,
    ): Promise<OpenedReply> => {
      const way = await ways.to(out.allow ?? []);
      const { isBound, isExact, keepsTls, signal } = out;
      const limits = bounded(out, forRequests);
      const bounds = { ...way, limits, isBound, isExact, keepsTls, signal };
      const reply = await followRedirects(hopOf(out), bounds);
      return { ...reply, url: reply.url.href };
    },
    /**
     * Returns a fetch with streaming bodies for models and MCP servers. Limits: 120 s to the first
     * byte of the body, 60 s of silence, 64 MiB. It reaches the host and port of `origin`, even a
     * private one, and what egressAllow names. Everything else is refused, also as the target of a
     * redirect. It fails with the errors of `request`, also in the middle of a body.
     */
    fetchFor: (origin: string, limits: Partial<CallLimits> = {}): typeof fetch => {
      const own = [hostAndPort(origin)];
      return fetchOver(() => ways.to(own), bounded(limits, forModels));
    },
    /**
     * Checks a URL that is to be stored. Throws EgressRefused if, as written, it can never be
     * reached, and BadUrl if it is not http(s) or holds credentials. Resolves no name.
     */
    check: (url: string): void => egress.check(parseUrl(url)),
    addressesOf: (host: string, port: number, extra: string[] = []): Promise<string[]> =>
      dialableAddresses({ allow: [...allow, ...extra], lookup }, `https://${host}:${port}`),
    /** Ends every connection. Requests under way fail as `aborted`. */
    close: (): Promise<void> => ways.close(),
  };
};

/**
 * Returns the addresses of a host and port that may be dialled for another protocol over TLS, such as
 * IMAP. Throws EgressRefused, BadUrl, or HttpFailure `dns`.
 */
const dialableAddresses = async (
  { allow, lookup }: { allow: string[]; lookup: Lookup },
  address: string,
): Promise<string[]> => {
  const egress = createEgress(allow);
  const url = parseUrl(address);
  egress.check(url);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return checkedAddresses(egress, lookup, { hostname, port: url.port, protocol: url.protocol });
};

/** A pool of connections, and the rules under which they are made. */
interface CheckedAgent {
  egress: Egress;
  agent: Agent;
}

/**
 * Creates one pool for each set of allowed hosts, so that no call reuses a connection that it may
 * not make itself.
 */
const createWays = (allow: string[], lookup: Lookup) => {
  const ways = new Map<string, Promise<CheckedAgent>>();
  const open = async (extra: string[]): Promise<CheckedAgent> => {
    const egress = createEgress([...allow, ...extra]);
    const { Agent } = await loadUndici();
    const agent = new Agent({ ...pooling, connect: createConnector(egress, lookup) });
    return { egress, agent };
  };
  return {
    to: (extra: string[]) => {
      const key = JSON.stringify(extra.toSorted());
      const way = ways.get(key) ?? open(extra);
      ways.set(key, way);
      return way;
    },
    close: async () => {
      const opened = await Promise.all(ways.values());
      await Promise.all(opened.map(({ agent }) => agent.destroy()));
    },
  };
};

const pooling = {
  maxHeaderSize: 16_384,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 30_000,
  headersTimeout: 0,
  bodyTimeout: 0,
};

const bounded = (wanted: Partial<CallLimits>, usual: CallLimits): CallLimits => ({
  firstByteMs: wanted.firstByteMs ?? usual.firstByteMs,
  silenceMs: wanted.silenceMs ?? usual.silenceMs,
  totalMs: wanted.totalMs ?? usual.totalMs,
  maxBytes: wanted.maxBytes ?? usual.maxBytes,
  redirects: wanted.redirects ?? usual.redirects,
});

/** Asks for an encoded body, unless the caller asks for another one or for a part of it. */
const askingEncoded = (out: Outgoing): Outgoing => {
  const asksItself = Object.keys(out.headers ?? {}).some((name) => ofEncoding.test(name));
  if (!out.isDecoded || asksItself) return out;
  return { ...out, headers: { ...out.headers, 'accept-encoding': ENCODINGS } };
};

const ofEncoding = /^(accept-encoding|range)$/i;

const fetchOver =
  (open: () => Promise<CheckedAgent>, limits: CallLimits): typeof fetch =>
  async (input, init) => {
    const { egress, agent } = await open();
    const check = (url: URL) => {
      egress.check(url);
      if (!egress.names(url)) throw new EgressRefused(url.hostname, notItsOwn);
    };
    const signal = init?.signal ?? (input instanceof Request ? input.signal : null);
    const hop = hopOf(textRequest(input, init) ?? (await wholeRequest(input, init)));
    const reply = await followRedirects(hop, { egress: { check }, agent, limits, signal });
    if (reply.notFollowed) {
      reply.body.cancel();
      const { hostname } = reply.notFollowed;
      const why = egress.names(reply.notFollowed) ? ledAway : notItsOwn;
      throw new EgressRefused(hostname, why, true);
    }
    return responseOf(reply);
  };

type FetchInput = Parameters<typeof fetch>[0];

/**
 * Returns a request whose body is a text, as adapters of models make them; null for any other. A
 * `Request` with its streams and signals would take longer than the rest of the way.
 */
const textRequest = (input: FetchInput, init: RequestInit = {}): Outgoing | null => {
  const { method, body, headers } = init;
  if (input instanceof Request || typeof body !== 'string' || method !== 'POST') return null;
  const given = valid(input, () => new Headers(headers));
  if (!given.has('content-type')) given.set('content-type', 'text/plain;charset=UTF-8');
  return {
    method,
    url: String(input),
    headers: Object.fromEntries(given),
    body: Buffer.from(body),
  };
};

const wholeRequest = async (input: FetchInput, init?: RequestInit): Promise<Outgoing> => {
  const request = valid(input, () => new Request(input, init));
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    body: request.body ? Buffer.from(await request.arrayBuffer()) : undefined,
  };
};

/** Makes a part of a request. The error of an invalid header quotes it, so nothing of it is kept. */
const valid = <T>(input: FetchInput, make: () => T): T => {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const url = input instanceof Request ? input.url : String(input);
    const host = URL.canParse(url) ? new URL(url).hostname : 'the URL';
    throw new HttpFailure('invalid_request', { host, effectBegan: false });
  }
};

const notItsOwn =
  'this request may only reach its own host and hosts in the setting egressAllow (ADJUTANT_EGRESS_ALLOW)';

const ledAway =
  'it is a redirect target, and requests with a body are not redirected to another origin';

const responseOf = ({ status, headers, body }: HttpReply): Response => {
  // RFC 9110, 15: a status outside the classes is treated as a server error.
  if (!bodiless.has(status))
    return new Response(body.stream(), { status: Math.min(status, 599), headers });
  body.cancel();
  return new Response(null, { status, headers });
};

/** Statuses for which Response accepts no body, not even an empty one. */
const bodiless = new Set([204, 205, 304]);
